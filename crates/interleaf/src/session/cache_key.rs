//! The name under which a vendor looks for what it has cached of a session.

use std::borrow::Cow;

use interleaf_model::AgentName;
use interleaf_store::SessionId;
use smol_str::{SmolStr, ToSmolStr, format_smolstr};

use super::Session;
use crate::{Error, StoredAnswers, Target, stored};

/// OpenAI refuses a longer key.
const LONGEST: usize = 64;

impl Session {
    /// The session's own name for a vendor's cache: the id of the session that it descends
    /// from. All forks, and forks of forks, have the same one, for they begin alike. A
    /// sub-agent begins otherwise: its name is added.
    ///
    /// ```
    /// use interleaf::model::Message;
    /// use interleaf::{Session, store};
    ///
    /// # tokio::runtime::Builder::new_current_thread().build().unwrap().block_on(async {
    /// let mut session = Session::create(store::open("memory:").await?, "").await?;
    /// let mut fork = session.fork("another way").await?;
    /// let key = session.cache_key(None).await?;
    /// assert_eq!(key, session.id().to_string());
    /// assert_eq!(fork.cache_key(None).await?, key);
    /// assert_eq!(fork.cache_key(Some(&"scout".into())).await?, format!("{key}:scout"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # }).unwrap();
    /// ```
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn cache_key(&mut self, agent: Option<&AgentName>) -> Result<SmolStr, Error> {
        let root = self.root().await?;
        let Some(name) = agent else { return Ok(root.to_smolstr()) };
        let key = format_smolstr!("{root}:{name}");
        if key.chars().count() <= LONGEST {
            return Ok(key);
        }
        let hash = blake3::hash(name.as_str().as_bytes()).to_hex();
        let room = LONGEST - root.to_smolstr().len() - 1;
        Ok(format_smolstr!("{root}:{}", &hash[..room.min(hash.len())]))
    }

    /// A target with the session's own cache key, if it says nothing else and takes one.
    ///
    /// # Errors
    /// If the store refuses.
    pub async fn keyed<'t>(
        &mut self,
        target: &'t Target,
        agent: Option<&AgentName>,
    ) -> Result<Cow<'t, Target>, Error> {
        let mut target = Cow::Borrowed(target);
        if target.wants_cache_key() {
            target.to_mut().options.cache_key = Some(self.cache_key(agent).await?);
        }
        if target.stored != StoredAnswers::Off {
            stored::keep(target.to_mut());
        }
        Ok(target)
    }

    /// The session that it descends from; itself, if it is no fork.
    async fn root(&mut self) -> Result<SessionId, Error> {
        if let Some(root) = self.root {
            return Ok(root);
        }
        let (mut root, mut parent) = (self.id(), self.head.parent);
        while let Some(fork) = parent {
            root = fork.session;
            parent = self.store.head(root).await.map_err(Error::store)?.parent;
        }
        self.root = Some(root);
        Ok(root)
    }
}
