//! The sessions of a store, in an order in which they can be copied.

use std::collections::HashMap;

use interleaf_store::{Head, ListSessions, SessionId, Store};

use crate::Error;

/// The number of sessions asked for at once.
const PAGE: usize = 1000;

/// Every session of a store.
///
/// # Errors
/// If the store refuses.
pub async fn all(store: &dyn Store) -> Result<Vec<Head>, Error> {
    let mut heads: Vec<Head> = Vec::new();
    loop {
        let after = heads.last().map(|head| (head.changed, head.id));
        let page = store.list(ListSessions { limit: PAGE, after }).await.map_err(Error::store)?;
        let full = page.len() == PAGE;
        heads.extend(page);
        if !full {
            return Ok(heads);
        }
    }
}

/// Sessions, each after its parent, and whether that is among them.
pub fn parents_first(heads: Vec<Head>) -> Vec<(Head, bool)> {
    let parent = |head: &Head| head.parent.map(|fork| fork.session);
    let parents: HashMap<SessionId, Option<SessionId>> =
        heads.iter().map(|head| (head.id, parent(head))).collect();
    let depth = |head: &Head| {
        let up = |id: &Option<SessionId>| id.and_then(|id| parents.get(&id).copied());
        // A damaged store may have sessions that are their own ancestors; reading one says so.
        std::iter::successors(Some(parent(head)), up).take(parents.len() + 1).count()
    };
    let mut ordered: Vec<(usize, Head)> =
        heads.into_iter().map(|head| (depth(&head), head)).collect();
    ordered.sort_by_key(|(depth, head)| (*depth, head.id));
    let is_known = |head: &Head| parent(head).is_some_and(|id| parents.contains_key(&id));
    ordered
        .into_iter()
        .map(|(_, head)| (is_known(&head), head))
        .map(|(k, head)| (head, k))
        .collect()
}
