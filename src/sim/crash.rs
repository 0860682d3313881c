//! Every state that a power cut may leave, from a recorded run.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::PathBuf;
use std::sync::Arc;

use super::blocks::{Blocks, SECTOR};
use super::medium::{Entry, Image, Medium, Op};
use super::persistence::Persistence;

/// More changes of names than this are not tried in all combinations, but in their order.
const NAMES_MAX: usize = 8;
/// A torn size is so many bytes before the end of a write.
const TORN: [u64; 3] = [1, 4, 7];

/// A recorded run: what the disk held at its start, and everything that has changed it since.
#[derive(Debug, Clone)]
pub struct Trace {
    pub(super) start: Medium,
    pub(super) ops: Vec<Op>,
}

impl Trace {
    /// The number of operations: writes, syncs, changes of names, and notes.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ops.len()
    }

    /// Whether nothing was recorded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ops.is_empty()
    }
}

/// One state that the disk may be in after a power cut.
#[derive(Debug)]
pub struct Crash<'a> {
    /// The number of operations before the cut.
    pub point: usize,
    /// What was noted before it, in order.
    pub notes: &'a [u64],
    /// What is on the disk.
    pub image: Image,
}

/// How much was gone through.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Count {
    /// Moments at which the power was cut.
    pub points: u64,
    /// States at all of them together.
    pub states: u64,
    /// Different ones among them; so often the visitor was called.
    pub distinct: u64,
    /// Moments at which more sectors were open than are combined in full.
    pub bounded: u64,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.points += other.points;
        self.states += other.states;
        self.distinct += other.distinct;
        self.bounded += other.bounded;
    }
}

/// The states that a power cut may leave at each moment of a run.
#[derive(Debug, Clone)]
#[must_use]
pub struct Crashes<'a> {
    trace: &'a Trace,
    model: Persistence,
    first: usize,
    full_sectors: usize,
    deviations: usize,
    stale: Arc<[u8]>,
}

impl<'a> Crashes<'a> {
    /// Those of this run on this file system.
    pub fn of(trace: &'a Trace, model: Persistence) -> Self {
        Self { trace, model, first: 0, full_sectors: 8, deviations: 2, stale: Arc::from([]) }
    }

    /// Only the moments after so many operations or more; default 0, all of them.
    pub fn since(mut self, point: usize) -> Self {
        self.first = point;
        self
    }

    /// Up to so many sectors in doubt at one moment are tried in every combination; default 8. Where there are more, every
    /// state is tried that differs in few sectors from "all old" or from "all new".
    pub fn full_sectors(mut self, sectors: usize) -> Self {
        self.full_sectors = sectors;
        self
    }

    /// What "few" means there; default 2.
    pub fn deviations(mut self, sectors: usize) -> Self {
        self.deviations = sectors;
        self
    }

    /// What a deleted file had left in the blocks that this run uses, by their place in the file; default noise. The end of
    /// another log is the worst that can lie there.
    pub fn stale(mut self, bytes: &[u8]) -> Self {
        self.stale = bytes.into();
        self
    }

    /// Calls the visitor with each different state once, with the notes of the last moment that it can be met at. Later
    /// moments come first: what may be asked of a state at an earlier moment, is asked of it at a later one too, as long
    /// as notes only add to what must hold.
    ///
    /// Two states are told apart by a hash of 64 bits.
    pub fn for_each(&self, mut visit: impl FnMut(&Crash<'_>)) -> Count {
        let mut media = vec![self.trace.start.clone()];
        let mut points = Vec::new();
        let mut medium = self.trace.start.clone();
        for (index, op) in self.trace.ops.iter().enumerate() {
            if !matches!(op, Op::Note(_)) {
                points.push(index);
                medium.apply(op);
                media.push(medium.clone());
            }
        }
        points.push(self.trace.ops.len());
        let mut seen = HashSet::new();
        let mut count = Count::default();
        for (point, medium) in points.into_iter().zip(media).rev().take_while(|(point, _)| *point >= self.first) {
            let note = |op: &Op| if let Op::Note(note) = op { Some(*note) } else { None };
            let notes: Vec<u64> = self.trace.ops[..point].iter().filter_map(note).collect();
            count.points += 1;
            let mut states = 0;
            let full = self.states_of(&medium, &mut |image| {
                states += 1;
                let mut hasher = DefaultHasher::new();
                image.hash(&mut hasher);
                if seen.insert(hasher.finish()) {
                    count.distinct += 1;
                    visit(&Crash { point, notes: &notes, image });
                }
            });
            count.states += states;
            count.bounded += u64::from(!full);
        }
        count
    }

    /// False if not all combinations were tried.
    fn states_of(&self, medium: &Medium, visit: &mut dyn FnMut(Image)) -> bool {
        let mut full = true;
        for names in self.names_of(medium) {
            let image = medium.image_of(&names, |blocks| blocks.sure.as_slice().into());
            let open = names.iter().filter_map(|(path, entry)| match entry {
                Entry::File(inode) => Some((path.clone(), medium.files.get(inode)?)),
                Entry::Dir => None,
            });
            let open: Vec<(PathBuf, &Blocks)> = open.collect();
            full &= self.contents_of(&open, image, visit);
        }
        full
    }

    /// The directories as the disk may hold them.
    fn names_of(&self, medium: &Medium) -> Vec<BTreeMap<PathBuf, Entry>> {
        let renamings = &medium.renamings;
        let mut all = Vec::new();
        let mut push = |applied: &mut dyn Iterator<Item = usize>| {
            let mut names = medium.sure_names.clone();
            applied.for_each(|index| renamings[index].apply(&mut names));
            if !all.contains(&names) {
                all.push(names);
            }
        };
        if self.model.names_in_order || renamings.len() > NAMES_MAX {
            (0..=renamings.len()).for_each(|len| push(&mut (0..len)));
        } else {
            let chosen = |set: u32| (0..renamings.len()).filter(move |index| set >> index & 1 == 1);
            (0..1_u32 << renamings.len()).for_each(|set| push(&mut chosen(set)));
        }
        all.iter_mut().for_each(|names| drop_unreachable(names, &medium.names));
        all
    }

    fn contents_of(&self, open: &[(PathBuf, &Blocks)], image: Image, visit: &mut dyn FnMut(Image)) -> bool {
        let Some(((path, blocks), rest)) = open.split_first() else {
            visit(image);
            return true;
        };
        let mut full = true;
        for size in self.sizes(blocks) {
            let Some(choices) = self.choices(blocks, size) else { continue };
            let mut bytes = blocks.sure.clone();
            bytes.resize(size as usize, 0);
            let mut next = |bytes: &[u8]| {
                let mut image = image.clone();
                image.files.insert(path.clone(), bytes.into());
                self.contents_of(rest, image, visit);
            };
            let doubtful = choices.iter().filter(|choice| choice.options.len() > 1).count();
            if doubtful <= self.full_sectors {
                combine(&choices, &mut bytes, usize::MAX, &mut next);
            } else {
                full = false;
                for newest in [false, true] {
                    for choice in &choices {
                        let option = if newest { choice.newest } else { 0 };
                        choice.put(option, &mut bytes);
                    }
                    combine(&choices, &mut bytes, self.deviations, &mut next);
                }
            }
        }
        full
    }

    /// The sizes that the file may have.
    fn sizes(&self, blocks: &Blocks) -> BTreeSet<u64> {
        let mut sizes = blocks.sizes.clone();
        if self.model.torn_size {
            let least = blocks.sizes.first().copied().unwrap_or(0);
            let torn = blocks.sizes.iter().flat_map(|size| TORN.map(|bytes| size.saturating_sub(bytes)));
            sizes.extend(torn.filter(|size| *size > least));
        }
        sizes
    }

    /// What each sector in doubt may hold if the file has this size; none if it can't have it.
    fn choices(&self, blocks: &Blocks, size: u64) -> Option<Vec<Choice>> {
        let (size, known) = (size as usize, blocks.sure.len());
        let mut choices = Vec::new();
        for (&sector, versions) in blocks.open.range(..size.div_ceil(SECTOR)) {
            let start = sector * SECTOR;
            let need = (size - start).min(SECTOR);
            let last = start + SECTOR >= size;
            let grown = size > known && start + SECTOR > known;
            let written = grown && (self.model.growth_in_order || (self.model.tail_is_written && last));
            let mut choice = Choice { start, len: need, options: Vec::new(), newest: 0 };
            for (age, version) in versions.contents.iter().enumerate() {
                let hole = versions.fresh && age == 0;
                if (hole && !self.model.zeros) || (written && (hole || version.len < need)) {
                    continue;
                }
                choice.offer(&version.bytes[..need]);
                choice.newest = choice.options.len() - 1;
            }
            if versions.fresh && self.model.stale && !written {
                choice.offer(&self.stale_sector(start)[..need]);
            }
            if choice.options.is_empty() {
                return None;
            }
            choices.push(choice);
        }
        Some(choices)
    }

    fn stale_sector(&self, start: usize) -> [u8; SECTOR] {
        // Noise without a period that any structure has.
        let mut sector: [u8; SECTOR] =
            std::array::from_fn(|at| ((start + at) as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15).to_le_bytes()[7] | 1);
        let old = self.stale.get(start..).unwrap_or_default();
        let len = old.len().min(SECTOR);
        sector[..len].copy_from_slice(&old[..len]);
        sector
    }
}

/// What one sector may hold.
struct Choice {
    start: usize,
    len: usize,
    options: Vec<Vec<u8>>,
    /// The last version that was written.
    newest: usize,
}

impl Choice {
    fn offer(&mut self, bytes: &[u8]) {
        if !self.options.iter().any(|option| option == bytes) {
            self.options.push(bytes.to_vec());
        }
    }

    fn put(&self, option: usize, bytes: &mut [u8]) {
        bytes[self.start..self.start + self.len].copy_from_slice(&self.options[option]);
    }
}

/// Calls `next` with every combination of which at most `changes` sectors differ from what is in `bytes` now.
fn combine(choices: &[Choice], bytes: &mut Vec<u8>, changes: usize, next: &mut dyn FnMut(&[u8])) {
    let Some((choice, rest)) = choices.split_first() else {
        next(bytes);
        return;
    };
    let before = bytes[choice.start..choice.start + choice.len].to_vec();
    for (index, option) in choice.options.iter().enumerate() {
        let differs = usize::from(*option != before);
        if let Some(left) = changes.checked_sub(if changes == usize::MAX { 0 } else { differs }) {
            choice.put(index, bytes);
            combine(rest, bytes, left, next);
        }
    }
    bytes[choice.start..choice.start + choice.len].copy_from_slice(&before);
}

/// A file whose directory is not there cannot be reached. Directories that nobody has made are taken for granted.
fn drop_unreachable(names: &mut BTreeMap<PathBuf, Entry>, seen: &BTreeMap<PathBuf, Entry>) {
    let is_dir = |names: &BTreeMap<PathBuf, Entry>, path: &std::path::Path| names.get(path) == Some(&Entry::Dir);
    let there = names.clone();
    names.retain(|path, _| path.ancestors().skip(1).all(|above| !is_dir(seen, above) || is_dir(&there, above)));
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::persistence::{ALL, ANYTHING, BTRFS, EXT4_ORDERED, EXT4_WRITEBACK, XFS};
    use super::super::{Call, Fault, SimDisk};
    use super::*;
    use crate::log::{Access, FsFile};

    fn file() -> &'static Path {
        Path::new("/f")
    }

    fn disk_with(bytes: &[u8]) -> (SimDisk, Arc<dyn FsFile>) {
        let disk = SimDisk::holding(&Image::with(file(), bytes));
        let handle = disk.fs().open(file(), Access::Write).unwrap();
        disk.record();
        (disk, handle)
    }

    fn states(disk: &SimDisk, model: Persistence) -> Vec<Image> {
        let mut images = Vec::new();
        let count = Crashes::of(&disk.trace(), model).for_each(|crash| images.push(crash.image.clone()));
        assert_eq!(count.distinct, images.len() as u64);
        images
    }

    fn counts(disk: &SimDisk) -> [usize; 5] {
        ALL.map(|model| states(disk, model).len())
    }

    #[test]
    fn two_new_sectors_are_each_there_or_zero_or_stale_as_each_row_says() {
        let (disk, handle) = disk_with(&[7; 4096]);
        handle.write_at(&[1; 1024], 4096).unwrap();
        // The old size, and the new one with both sectors in each of 2, 3, 2 (the last is there), 1 and 3 ways; and so again
        // with each of 3 torn sizes.
        assert_eq!(counts(&disk), [1 + 4, 1 + 9, 1 + 2, 1 + 1, 1 + 4 * 9]);
        handle.sync_data().unwrap();
        disk.record();
        assert_eq!(counts(&disk), [1; 5]);
    }

    #[test]
    fn two_sectors_written_over_are_each_old_or_new_everywhere() {
        let (disk, handle) = disk_with(&[7; 4096]);
        handle.write_at(&[1; 1024], 512).unwrap();
        assert_eq!(counts(&disk), [4; 5]);
        handle.write_at(&[2; 512], 512).unwrap();
        assert_eq!(counts(&disk), [6; 5], "the first one may also hold what was there in between");
    }

    #[test]
    fn two_appends_in_one_sector_leave_each_size_with_each_content() {
        let (disk, handle) = disk_with(&[7; 4096]);
        handle.write_at(&[1; 100], 4096).unwrap();
        handle.write_at(&[2; 100], 4196).unwrap();
        // Sizes 4096 (1), 4196 (zeros, first) and 4296 (zeros, first, both); stale once for each size.
        assert_eq!(states(&disk, EXT4_ORDERED).len(), 1 + 2 + 3);
        assert_eq!(states(&disk, EXT4_WRITEBACK).len(), 1 + 3 + 4);
        assert_eq!(states(&disk, XFS).len(), 1 + 1 + 1);
        assert_eq!(states(&disk, BTRFS).len(), 1 + 1 + 1);
    }

    #[test]
    fn each_state_of_every_row_is_one_that_anything_allows() {
        let (disk, handle) = disk_with(&[7; 4200]);
        handle.write_at(&[1; 900], 4200).unwrap();
        handle.write_at(&[2; 60], 4000).unwrap();
        disk.fs().replace(file(), Path::new("/g")).unwrap();
        let all: HashSet<Image> = states(&disk, ANYTHING).into_iter().collect();
        for model in ALL {
            assert!(states(&disk, model).iter().all(|image| all.contains(image)), "{}", model.name);
        }
    }

    #[test]
    fn a_failed_sync_leaves_its_data_in_doubt_or_lost_though_a_later_one_succeeds() {
        let kept = (Fault::Errno(5), 1, vec![1, 7]);
        let dropped = (Fault::Dropped(5), 7, vec![7]);
        for (fault, seen, left) in [kept, dropped] {
            let (disk, handle) = disk_with(&[7; 4096]);
            handle.write_at(&[1; 512], 512).unwrap();
            disk.fail(Call::Sync, 0, fault);
            handle.sync_data().unwrap_err();
            handle.write_at(&[2; 512], 1024).unwrap();
            handle.sync_data().unwrap();
            assert_eq!(disk.bytes(file())[512], seen);
            let trace = disk.trace();
            let last = trace.ops.len();
            let mut at_end = Vec::new();
            Crashes::of(&trace, EXT4_ORDERED).for_each(|crash| {
                if crash.point == last {
                    at_end.push(crash.image.files[file()][512]);
                }
            });
            at_end.sort_unstable();
            assert_eq!(at_end, left);
        }
    }

    #[test]
    fn names_that_were_not_synced_are_there_in_order_or_each_by_itself() {
        let disk = SimDisk::new();
        disk.record();
        let fs = disk.fs();
        fs.create(Path::new("/a")).unwrap();
        fs.create(Path::new("/b")).unwrap();
        fs.replace(Path::new("/a"), Path::new("/c")).unwrap();
        let names = |model| {
            let named = |image: Image| image.files.into_keys().map(|path| path.display().to_string()).collect();
            let mut names: Vec<Vec<String>> = states(&disk, model).into_iter().map(named).collect();
            names.sort();
            names
        };
        assert_eq!(names(EXT4_ORDERED), [vec![], vec!["/a"], vec!["/a", "/b"], vec!["/b", "/c"]]);
        assert_eq!(names(ANYTHING), [vec![], vec!["/a"], vec!["/a", "/b"], vec!["/b"], vec!["/b", "/c"], vec!["/c"]]);
        fs.sync_dir(Path::new("/")).unwrap();
        disk.record();
        assert_eq!(names(ANYTHING), [vec!["/b", "/c"]]);
    }

    #[test]
    fn a_file_in_a_directory_that_was_not_synced_may_be_gone_with_it() {
        let disk = SimDisk::new();
        disk.record();
        let fs = disk.fs();
        fs.create_dir(Path::new("/d")).unwrap();
        fs.create(Path::new("/d/f")).unwrap();
        fs.sync_dir(Path::new("/d")).unwrap();
        let last = states(&disk, ANYTHING);
        assert!(last.contains(&Image::default()), "{last:?}");
        fs.sync_dir(Path::new("/")).unwrap();
        disk.record();
        assert_eq!(states(&disk, ANYTHING).len(), 1);
    }

    #[test]
    fn where_many_sectors_are_in_doubt_those_near_to_all_old_and_all_new_are_tried() {
        let (disk, handle) = disk_with(&[7; 4096 + 5120]);
        handle.write_at(&[1; 5120], 4096).unwrap();
        let trace = disk.trace();
        let few = Crashes::of(&trace, EXT4_ORDERED).full_sectors(4).deviations(1).for_each(|_| {});
        assert_eq!((few.distinct, few.bounded), (2 * (1 + 10), 1));
        let all = Crashes::of(&trace, EXT4_ORDERED).full_sectors(10).for_each(|_| {});
        assert_eq!((all.distinct, all.bounded), (1 << 10, 0));
    }
}
