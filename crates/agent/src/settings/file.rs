//! `interleaf.toml`, as it is written.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use interleaf::assemble::{Budget, Carrier, PlacementRule, Shares};
use interleaf::compaction::{CompactionPolicy, Trigger};
use interleaf::wire::Vendor;
use interleaf_transport::{Amount, KeySource, Rates};
use serde::Deserialize;

use super::{CompactionSettings, LimitSettings, Origin, PermissionSettings, Setting, Settings};
use crate::Fault;
use crate::written::{Length, Name, Node, Parsed, Placed, Source, Value};

/// What a settings file says.
pub(super) struct Said {
    pub(super) settings: Settings,
    /// The folders whose own settings may do anything, with the place.
    pub(super) trust: Option<Placed<Vec<PathBuf>>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct Form {
    vendor: Option<Placed<String>>,
    model: Option<Placed<String>>,
    fallback: Option<Placed<Vec<String>>>,
    agent: Option<Placed<String>>,
    place: Option<Placed<Parsed<PlacementRule>>>,
    carrier: Option<Placed<Parsed<Carrier>>>,
    store: Option<Placed<String>>,
    trust: Option<Placed<Vec<PathBuf>>>,
    limits: LimitForm,
    budget: Option<Placed<BudgetForm>>,
    shares: Option<Placed<Shares>>,
    compaction: CompactionForm,
    permissions: PermissionForm,
    price: BTreeMap<String, Placed<Parsed<Rates>>>,
    models: BTreeMap<String, Placed<String>>,
    keys: BTreeMap<String, Placed<KeyForm>>,
    // These two are read from the tree: a vendor by its name, a server by whoever connects it.
    vendors: Tables,
    mcp: Tables,
}

#[derive(Deserialize, Default)]
struct Tables(
    #[allow(dead_code, reason = "that they are tables is all")] BTreeMap<String, AnyTable>,
);

#[derive(Deserialize, Default)]
struct AnyTable(#[allow(dead_code, reason = "as above")] BTreeMap<String, serde::de::IgnoredAny>);

/// How much a run may use, in settings and in an agent's file.
#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct LimitForm {
    rounds: Option<Placed<u32>>,
    tokens: Option<Placed<u64>>,
    money: Option<Placed<Parsed<Amount>>>,
    time: Option<Placed<Parsed<Length>>>,
    sub_agents: Option<Placed<usize>>,
    at_once: Option<Placed<usize>>,
    depth: Option<Placed<usize>>,
}

/// How long requests may be, in settings and in an agent's file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BudgetForm {
    window: u64,
    reserve: Option<u64>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct CompactionForm {
    at: Option<Placed<f64>>,
    writer: Option<Placed<String>>,
    policy: Option<Placed<CompactionPolicy>>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields)]
struct PermissionForm {
    allow: Option<Placed<Vec<String>>>,
    run: Option<Placed<Vec<String>>>,
    variables: Option<Placed<Vec<String>>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct KeyForm {
    variable: Option<String>,
    file: Option<PathBuf>,
    command: Option<String>,
}

/// Reads a settings file as far as it can be read: what breaks a rule is left out, and told.
/// Nothing is said of one that is no TOML.
pub(super) fn read(source: &Source) -> (Option<Said>, Vec<Fault>) {
    let mut tree = match source.toml() {
        Ok(tree) => tree,
        Err(fault) => return (None, vec![fault]),
    };
    let mut faults = Vec::new();
    loop {
        match read_tree(source, &tree) {
            Ok(said) => return (Some(said), faults),
            Err(fault) => {
                let is_left_out = fault.start().is_some_and(|at| left_out(&mut tree, at));
                faults.push(fault);
                if !is_left_out {
                    return (None, faults);
                }
            }
        }
    }
}

/// Leaves out the smallest entry of a table that has this place in it.
fn left_out(node: &mut Node, at: usize) -> bool {
    let Value::Table(entries) = &mut node.value else { return false };
    let has = |(name, value): &(Name, Node)| name.at.contains(&at) || value.at.contains(&at);
    // The range of a table with a header may have others in it: names are closer.
    for (_, value) in entries.iter_mut() {
        if left_out(value, at) {
            return true;
        }
    }
    let place = entries.iter().position(has);
    place.inspect(|&place| drop(entries.remove(place))).is_some()
}

fn read_tree(source: &Source, tree: &Node) -> Result<Said, Fault> {
    let form: Form = source.read(tree)?;
    let put = Putting(source);
    if let Some(named) = form
        .vendor
        .iter()
        .chain(&form.model)
        .chain(&form.agent)
        .chain(&form.store)
        .find(|it| it.value.trim().is_empty())
    {
        return Err(Fault::new(source, named.at.clone(), "this is blank"));
    }
    let settings = Settings {
        vendor: put.it(form.vendor),
        model: put.it(form.model),
        fallback: put.it(form.fallback),
        agent: put.it(form.agent),
        place: put.parsed(form.place),
        carrier: put.parsed(form.carrier),
        store: put.it(form.store),
        limits: form.limits.settings(source),
        budget: form.budget.map(|budget| BudgetForm::setting(budget, source)).transpose()?,
        shares: put.it(form.shares),
        compaction: compaction(source, form.compaction)?,
        permissions: PermissionSettings {
            allow: put.it(form.permissions.allow),
            run: put.it(form.permissions.run),
            variables: put.it(form.permissions.variables),
        },
        price: form
            .price
            .into_iter()
            .filter_map(|(k, v)| Some((k, put.parsed(Some(v))?)))
            .collect(),
        models: form.models.into_iter().filter_map(|(k, v)| Some((k, put.it(Some(v))?))).collect(),
        keys: keys(source, form.keys)?,
        vendors: vendors(source, tree)?,
        mcp: tables(tree, "mcp")
            .map(|(name, node)| {
                let origin = origin(source, name.at.start);
                (name.text.clone(), Setting { value: source.table(node.clone()), origin })
            })
            .collect(),
        held_servers: BTreeSet::new(),
        held_models: BTreeSet::new(),
    };
    Ok(Said { settings, trust: form.trust })
}

/// Who said what stands at a place of a file.
pub(crate) fn origin(source: &Source, at: usize) -> Origin {
    let (line, column) = source.line_column(at);
    Origin::File { path: source.path().to_owned(), line, column }
}

/// Attaches the file and line to each value.
struct Putting<'a>(&'a Source);

impl Putting<'_> {
    fn it<T>(&self, placed: Option<Placed<T>>) -> Option<Setting<T>> {
        placed.map(|Placed { at, value }| Setting { value, origin: origin(self.0, at.start) })
    }

    fn parsed<T>(&self, placed: Option<Placed<Parsed<T>>>) -> Option<Setting<T>> {
        self.it(placed).map(|set| set.map(|Parsed(value)| value))
    }
}

impl LimitForm {
    pub(crate) fn settings(self, source: &Source) -> LimitSettings {
        let put = Putting(source);
        LimitSettings {
            rounds: put.it(self.rounds),
            tokens: put.it(self.tokens),
            money: put.parsed(self.money),
            time: put.parsed(self.time).map(|set| set.map(|Length(time)| time)),
            sub_agents: put.it(self.sub_agents),
            at_once: put.it(self.at_once),
            depth: put.it(self.depth),
        }
    }
}

impl BudgetForm {
    pub(crate) fn setting(put: Placed<Self>, source: &Source) -> Result<Setting<Budget>, Fault> {
        let Placed { at, value: Self { window, reserve } } = put;
        let usual = Budget::of_window(window);
        let budget = Budget { reserve: reserve.unwrap_or(usual.reserve), ..usual };
        match budget.limit() {
            0 => Err(Fault::new(source, at, "the `reserve` leaves nothing of the `window`")),
            _ => Ok(Setting { value: budget, origin: origin(source, at.start) }),
        }
    }
}

fn compaction(source: &Source, form: CompactionForm) -> Result<CompactionSettings, Fault> {
    let CompactionForm { at, writer, policy } = form;
    if let Some(Placed { at: place, value }) = &policy {
        let checked = value.check();
        checked.map_err(|e| Fault::new(source, place.clone(), e.to_string()))?;
    }
    if let Some(Placed { at: place, value }) = &at {
        let mut policy = CompactionPolicy::default();
        policy.when = Some(Trigger::Fill(*value));
        policy.check().map_err(|e| Fault::new(source, place.clone(), e.to_string()))?;
    }
    let put = Putting(source);
    Ok(CompactionSettings { at: put.it(at), writer: put.it(writer), policy: put.it(policy) })
}

fn keys(
    source: &Source,
    written: BTreeMap<String, Placed<KeyForm>>,
) -> Result<BTreeMap<String, Setting<KeySource>>, Fault> {
    let mut keys = BTreeMap::new();
    for (vendor, Placed { at, value }) in written {
        let KeyForm { variable, file, command } = value;
        let sources = [
            variable.map(KeySource::Variable),
            file.map(KeySource::File),
            command.map(KeySource::Command),
        ];
        let mut sources = sources.into_iter().flatten();
        let (Some(key), None) = (sources.next(), sources.next()) else {
            let rule = "a key is in a `variable`, in a `file`, or printed by a `command`: one of \
                        them is named, and never the key itself";
            return Err(Fault::new(source, at, rule));
        };
        keys.insert(vendor, Setting { value: key, origin: origin(source, at.start) });
    }
    Ok(keys)
}

/// Each vendor is a row with the name of its table.
fn vendors(source: &Source, tree: &Node) -> Result<BTreeMap<String, Setting<Vendor>>, Fault> {
    let mut vendors = BTreeMap::new();
    for (name, node) in tables(tree, "vendors") {
        let mut row = node.clone();
        if let Value::Table(entries) = &mut row.value {
            if let Some((own, _)) = entries.iter().find(|(own, _)| own.text == "name") {
                let rule = "the name of a vendor is that of its table";
                return Err(Fault::new(source, own.at.clone(), rule));
            }
            let value = Value::Text(name.text.clone());
            let key = Name { at: name.at.clone(), text: "name".to_owned() };
            entries.push((key, Node { at: name.at.clone(), value }));
        }
        let value = source.read::<Vendor>(&row)?;
        let origin = origin(source, name.at.start);
        vendors.insert(name.text.clone(), Setting { value, origin });
    }
    Ok(vendors)
}

fn tables<'a>(tree: &'a Node, name: &str) -> impl Iterator<Item = &'a (Name, Node)> {
    let found = tree.entries().iter().find(|(key, _)| key.text == name);
    found.map_or(&[][..], |(_, node)| node.entries()).iter()
}
