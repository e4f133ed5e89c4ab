//! How a server proves who it is.

use std::sync::Arc;

use rustls::client::WebPkiServerVerifier;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::{CryptoProvider, ring, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};
use tokio_postgres_rustls::MakeRustlsConnect;

use super::address::{Proof, Roots};
use crate::{Error, ErrorKind};

/// What makes encrypted connections to servers that prove this.
pub(crate) fn connector(proof: &Proof) -> Result<MakeRustlsConnect, Error> {
    let provider = Arc::new(ring::default_provider());
    let authority = match proof {
        Proof::Nothing => None,
        Proof::Authority(roots) | Proof::Name(roots) => {
            let builder = WebPkiServerVerifier::builder_with_provider(
                Arc::new(listed(roots)?),
                provider.clone(),
            );
            let unusable =
                |e| Error::invalid("the authorities of sslrootcert cannot be used").caused_by(e);
            Some(builder.build().map_err(unusable)?)
        }
    };
    let by_name = matches!(proof, Proof::Name(_));
    let verifier = Verifier { provider: provider.clone(), authority, by_name };
    let unusable = |e| Error::invalid("TLS cannot be used").caused_by(e);
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(unusable)?
        .dangerous()
        .with_custom_certificate_verifier(Arc::new(verifier))
        .with_no_client_auth();
    Ok(MakeRustlsConnect::new(config))
}

fn listed(roots: &Roots) -> Result<RootCertStore, Error> {
    let mut store = RootCertStore::empty();
    match roots {
        Roots::System => {
            // One that cannot be read vouches for nobody; the others still do.
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        }
        Roots::File(path) => {
            let failed = |e: rustls::pki_types::pem::Error| {
                let message = format!("sslrootcert {} cannot be read", path.display());
                Error::new(ErrorKind::Invalid, message).caused_by(e)
            };
            for certificate in CertificateDer::pem_file_iter(path).map_err(failed)? {
                let unfit = |e| Error::invalid("sslrootcert is no authority").caused_by(e);
                store.add(certificate.map_err(failed)?).map_err(unfit)?;
            }
        }
    }
    match store.is_empty() {
        true => Err(Error::invalid("no authority is known: sslrootcert names a file of them")),
        false => Ok(store),
    }
}

/// Looks at the certificate as closely as was asked. That whoever shows it owns it is
/// checked in any case.
#[derive(Debug)]
struct Verifier {
    provider: Arc<CryptoProvider>,
    /// None if any certificate will do.
    authority: Option<Arc<WebPkiServerVerifier>>,
    by_name: bool,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let Some(authority) = &self.authority else { return Ok(ServerCertVerified::assertion()) };
        match authority.verify_server_cert(certificate, intermediates, name, ocsp, now) {
            // The name is looked at last.
            Err(rustls::Error::InvalidCertificate(
                CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. },
            )) if !self.by_name => Ok(ServerCertVerified::assertion()),
            verified => verified,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls12_signature(message, certificate, signature, algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signature: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = &self.provider.signature_verification_algorithms;
        verify_tls13_signature(message, certificate, signature, algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}
