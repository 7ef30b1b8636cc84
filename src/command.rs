//! One small file per command. A command is a pure edit of the project; `reconcile` is what all of them share.

mod adopt;
mod around;
mod attributes;
mod check;
mod completion;
mod conflicts;
mod create_api;
mod create_version;
mod create_webhook;
mod delete;
mod delete_api;
mod delete_webhook;
mod derived;
mod diff;
mod disown;
mod edit;
mod edit_api;
mod external;
mod file_of;
mod init;
mod lost;
mod man_pages;
mod no_project;
mod own;
mod rename;
mod restore;
mod runtime;
mod snapshot;
mod status;
mod sync;
mod type_of;
mod undo;
mod unmerged;
mod update;
mod version;
mod workspace;

use std::{
    collections::{BTreeMap, BTreeSet},
    thread,
    time::{Duration, Instant},
};

use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

pub use self::around::enter;
use self::{snapshot::Snapshot, workspace::Workspace};
use crate::{
    advice::{NextStep, Script},
    apply,
    change::{ChangeSet, NoteKind, Policy},
    cli::{Cli, Command, Create, Delete, EditWhat, Global, OnConflict},
    error::{Failure, FailureKind, Result},
    merge::markers,
    plan::NamedFiles,
    project::{FILE, Project},
    prompt::Prompt,
    report::{Outcome, Report},
    shell, syntax,
    tree::{self, Found, RelPath},
};

/// What a command wants, before anything is compared with the disk.
struct Request {
    command: &'static str,
    project: Project,
    /// Files of the user that the command's own words name.
    named: NamedFiles,
    /// Paths that are written whatever they hold.
    forced: BTreeSet<RelPath>,
    /// Remarks about flags and surroundings.
    remarks: Vec<String>,
    /// What to do next: a sentence and perhaps a line to paste.
    next: Vec<NextStep>,
    /// Whether two branches were put together in `PROJECT`, which git is then told.
    settles: bool,
    /// Whether the attributes of types are compared with `PROJECT`, which may have been edited by hand.
    compares: bool,
    /// What is asked on a terminal about the diff of it all, and the refusal that a no is.
    question: Option<(&'static str, Failure)>,
}

impl Request {
    /// Makes the tree what `project` says, and nothing else.
    fn of(command: &'static str, project: Project) -> Self {
        Self {
            command,
            project,
            named: NamedFiles::default(),
            forced: BTreeSet::new(),
            remarks: Vec::new(),
            next: Vec::new(),
            settles: false,
            compares: false,
            question: None,
        }
    }
}

/// The threads that a command runs on: one a core, eight at most, each with a stack that no accepted text overflows.
///
/// Errors: the system gives none.
pub fn threads() -> std::result::Result<ThreadPool, ThreadPoolBuildError> {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    ThreadPoolBuilder::new()
        .num_threads(cores.min(8))
        .stack_size(syntax::STACK)
        .build()
}

/// How long a command waits for others that are at work in its project. Each takes milliseconds, unless it asks a question.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the command line and returns the exit code: 0 done, 3 done but something is left for a human.
pub fn run(cli: &Cli, report: &mut Report) -> Result<u8> {
    let start = Instant::now();
    loop {
        match run_once(cli, report) {
            Err(failure) if failure.kind == FailureKind::Busy && start.elapsed() < PATIENCE => {
                thread::sleep(Duration::from_millis(10));
            }
            ended => return ended,
        }
    }
}

fn run_once(cli: &Cli, report: &mut Report) -> Result<u8> {
    let left = settle(cli, report)?;
    dispatch(cli, report).map(|code| code.max(left))
}

/// Finishes what a killed command began, before anything is read; a command that writes nothing refuses to start from it.
/// Returns the exit code that follows from it.
fn settle(cli: &Cli, report: &mut Report) -> Result<u8> {
    let directory = match &cli.command {
        Command::Version | Command::Completion { .. } | Command::ManPages { .. } => return Ok(0),
        Command::Init(flags) => flags.root(&cli.global),
        _ => cli.global.directory.clone(),
    };
    report.set_project(directory.clone());
    let disk = apply::Real::new(directory);
    let reads = matches!(
        cli.command,
        Command::Check(_) | Command::Diff(_) | Command::Status(_)
    );
    if cli.global.dry_run || reads {
        apply::pending(&disk)?;
        return Ok(0);
    }
    let Some(recovered) = apply::recover(&disk)? else {
        return Ok(0);
    };
    report.add_remarks(recovered.sentences());
    Ok(if recovered.kept.is_empty() { 0 } else { 3 })
}

fn dispatch(cli: &Cli, report: &Report) -> Result<u8> {
    match &cli.command {
        Command::Init(flags) => init::run(&cli.global, flags, report),
        Command::Create(Create::Api(flags)) => create_api::run(&cli.global, flags, report),
        Command::Create(Create::Webhook(flags)) => create_webhook::run(&cli.global, flags, report),
        Command::Delete(Delete::Api(flags)) => delete_api::run(&cli.global, flags, report),
        Command::Delete(Delete::Webhook(flags)) => delete_webhook::run(&cli.global, flags, report),
        Command::Own(files) => own::run(&cli.global, files, report),
        Command::Disown(files) => disown::run(&cli.global, files, report),
        Command::Restore(files) => restore::run(&cli.global, files, report),
        Command::Edit(flags) => match &flags.what {
            Some(EditWhat::Api(flags)) => edit_api::run(&cli.global, flags, report),
            None => edit::run(&cli.global, flags, report),
        },
        Command::Rename(flags) => rename::run(&cli.global, flags, report),
        Command::Sync => sync::run(&cli.global, report),
        Command::Undo => undo::run(&cli.global, report),
        Command::Check(flags) => check::run(&cli.global, flags, report),
        Command::Diff(flags) => diff::run(&cli.global, flags, report),
        Command::Status(flags) => status::run(&cli.global, flags, report),
        Command::Update(flags) => update::run(&cli.global, flags, report),
        Command::Version => version::run(report),
        Command::Completion { shell } => completion::run(*shell, report),
        Command::ManPages { dir } => man_pages::run(&cli.global, dir),
    }
}

/// Makes the tree what the edited project says, or shows what that would take.
fn reconcile(workspace: &Workspace, edit: &Request, flags: &Global, report: &Report) -> Result<u8> {
    let disk = apply::Real::new(&workspace.root);
    let turn = if flags.dry_run {
        None
    } else {
        Some(apply::Transaction::begin(&disk, edit.command)?)
    };
    report.at("Rendering", entries(&edit.project));
    let mut snapshot = Snapshot::with(workspace, &edit.project, &edit.named)?;
    // What another process wrote since `PROJECT` was read is no edit of the user's.
    turn.iter().try_for_each(apply::Transaction::check_alone)?;
    workspace.refuse_if_moved(&snapshot.found)?;
    report.at("Comparing", format!("{} files", snapshot.found.len()));
    let mut remarks = edit.remarks.clone();
    let lost = lost::settle(workspace, edit, &mut snapshot, flags.policy());
    let (remark, lost) = lost.map_err(|failure| failure.note("nothing was written"))?;
    remarks.extend(remark);
    let plan = |decided: &BTreeMap<RelPath, Policy>| {
        let (named, forced) = (&edit.named, &edit.forced);
        snapshot.plan(&edit.project, named, flags.policy(), decided, forced)
    };
    let mut set = plan(&BTreeMap::new())?;
    let may_ask = !(flags.no_input || flags.dry_run || report.is_json());
    let prompt = Prompt::new(report, may_ask);
    let asks = prompt.is_allowed();
    if asks && flags.on_conflict.is_none() && !set.conflicts.is_empty() {
        set = plan(&conflicts::ask(&set.conflicts, |conflict, rest| {
            let change = conflicts::change(conflict, &snapshot.desired, &snapshot.found);
            report.diff(&change);
            prompt.conflict(conflict.path.as_str(), &conflict.why.reason(), rest)
        })?)?;
    }
    conflicts::refuse(&set).map_err(|failure| match workspace.project {
        Some(_) => failure,
        None => adopt::explain(failure, &set, workspace.adopted.keys()),
    })?;
    let mut next: Vec<NextStep> = Vec::new();
    // Nothing follows from nothing, but git and the user's own types wait all the same.
    if set.visible().next().is_some() {
        next.clone_from(&edit.next);
    }
    let markers = set.notes.iter().filter(|it| it.what == NoteKind::Markers);
    let marked: Vec<_> = markers.map(|it| shell::word(it.path.as_str())).collect();
    if !marked.is_empty() && !edit.settles {
        let what = "choose between the sides of each conflict, and see that nothing is left:";
        let line = format!(
            "${{EDITOR:-vi}} {} && operator-forge sync",
            marked.join(" ")
        );
        next = vec![NextStep::new(what.to_owned(), line)];
    }
    if edit.settles {
        next.push(settled(workspace, &snapshot, &set)?);
    }
    if let Some(line) = lost.first() {
        let what = "put back what is still lost:".to_owned();
        next.push(NextStep::new(what, line.clone()));
    }
    if edit.compares {
        remarks.extend(snapshot.lacking(&set));
    }
    let drifts = match edit.compares {
        true => check::drifts(&edit.project, &snapshot)?,
        false => Vec::new(),
    };
    for drift in &drifts {
        remarks.push(drift.note());
        let line = NextStep::new("make the type say what `PROJECT` says:", drift.help());
        if !next.contains(&line) {
            next.push(line);
        }
    }
    let outcome = Outcome {
        command: edit.command,
        set: &set,
        remarks: &remarks,
        next: &next,
    };
    let question = edit.question.as_ref().filter(|_| asks);
    if let Some((question, refusal)) = question {
        report.proposal(&outcome);
        if !prompt.yes("--no-input", question, None, false)? {
            return Err(refusal.clone());
        }
    }
    let mut steps = apply::Step::of(&set);
    apply::carry_modes(&disk, &mut steps, &set.moved)?;
    report.at("Writing", format!("{} files", steps.len()));
    match turn {
        Some(mut turn) => apply::apply(&mut turn, steps)?,
        None => apply::check(&disk, &mut steps)?,
    }
    match question {
        None => report.outcome(&outcome),
        // Its diffs were shown and agreed to.
        Some(_) => report.done(&outcome),
    }
    let is_done = set.notes.is_empty() && drifts.is_empty() && lost.is_empty();
    Ok(if is_done { 0 } else { 3 })
}

/// How much there is to render.
fn entries(project: &Project) -> String {
    format!("{} entries of `PROJECT`", project.resources().count())
}

/// What git is told after two branches were put together: not before the last file is settled, because it would commit it.
fn settled(workspace: &Workspace, snapshot: &Snapshot, set: &ChangeSet) -> Result<NextStep> {
    let is_open = |what| matches!(what, NoteKind::Markers | NoteKind::Unmerged);
    let notes = set.notes.iter().filter(|note| is_open(note.what));
    let mut open: BTreeSet<RelPath> = notes.map(|note| note.path.clone()).collect();
    // git may have more to merge than the files of the project.
    let is_other = |path: &RelPath| path.as_str() != FILE && !snapshot.found.contains_key(path);
    for (path, git) in workspace.conflicted.texts(is_other)? {
        let text = match tree::find(&workspace.root, &path)? {
            Found::File(bytes) => String::from_utf8(tree::unix_line_ends(&bytes).into_owned()).ok(),
            _ => None,
        };
        let is_of_one = text == git.ours || text == git.theirs;
        if is_of_one || text.is_some_and(|text| markers::sides(&text).is_some()) {
            open.insert(path);
        }
    }
    if open.is_empty() {
        let add = Script::of("git add --all .");
        return Ok(NextStep::new("tell git that the merge is settled:", add));
    }
    let open: Vec<String> = open.iter().map(|path| format!("`{path}`")).collect();
    Ok(NextStep::by_hand(format!(
        "settle {}, and then tell git: `git add --all .`",
        open.join(", ")
    )))
}

/// Refuses to keep what the command's own words say to overwrite.
fn refuse_keep(flags: &Global, words: &str) -> Result<()> {
    if flags.on_conflict != Some(OnConflict::Keep) {
        return Ok(());
    }
    Err(
        Failure::usage(format!("`--on-conflict keep` beside `{words}`"))
            .note("one keeps the files that are there, the other writes them anew")
            .advise("leave out --on-conflict"),
    )
}
