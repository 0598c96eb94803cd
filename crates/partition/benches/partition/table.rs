//! Rows of measured times beside their targets.

use std::time::Instant;

/// What has been measured.
pub(crate) struct Table {
    only: Option<String>,
    rows: Vec<Row>,
}

struct Row {
    name: String,
    elements: usize,
    threads: usize,
    target: Option<f64>,
    /// Milliseconds: median, least, most.
    times: [f64; 3],
    repeats: usize,
    note: String,
}

impl Table {
    pub(crate) fn new(only: Option<String>) -> Self {
        Self { only, rows: Vec::new() }
    }

    /// Whether rows of this name are asked for.
    pub(crate) fn wants(&self, name: &str) -> bool {
        self.only.as_ref().is_none_or(|word| name.contains(word.as_str()))
    }

    /// Runs something several times on some threads, once before to warm up. What it returns
    /// goes into the table as a note.
    pub(crate) fn add(
        &mut self,
        name: &str,
        elements: usize,
        threads: usize,
        target: Option<f64>,
        repeats: usize,
        mut run: impl FnMut() -> String + Send,
    ) {
        if !self.wants(name) {
            return;
        }
        eprintln!("{name} …");
        let mut note = String::new();
        let times = in_pool(threads, || {
            note = run();
            let mut times: Vec<f64> = (0..repeats).map(|_| milliseconds(|| drop(run()))).collect();
            times.sort_by(f64::total_cmp);
            [times[repeats / 2], times[0], times[repeats - 1]]
        });
        let name = name.to_owned();
        self.rows.push(Row { name, elements, threads, target, times, repeats, note });
    }

    /// Runs something for two sizes in turn; the note is the ratio of the fastest times per
    /// element.
    pub(crate) fn add_ratio(
        &mut self,
        name: &str,
        threads: usize,
        elements: [usize; 2],
        mut run: impl FnMut(usize) + Send,
    ) {
        if !self.wants(name) {
            return;
        }
        eprintln!("{name} …");
        const REPEATS: usize = 3;
        let times = in_pool(threads, || {
            let mut times = [[0.0; REPEATS]; 2];
            (0..REPEATS).for_each(|repeat| {
                for (which, times) in times.iter_mut().enumerate() {
                    times[repeat] = milliseconds(|| run(which));
                }
            });
            times.iter_mut().for_each(|times| times.sort_by(f64::total_cmp));
            times
        });
        let per_element = [0, 1].map(|which| times[which][0] / elements[which] as f64);
        let ratio = per_element[1] / per_element[0];
        for which in 0..2 {
            let [least, median, most] = times[which];
            self.rows.push(Row {
                name: name.to_owned(),
                elements: elements[which],
                threads,
                target: None,
                times: [median, least, most],
                repeats: REPEATS,
                note: if which == 0 { String::new() } else { format!("{ratio:.2} × per element") },
            });
        }
    }

    pub(crate) fn print(&self) {
        println!(
            "{:<42} {:>9} {:>7} {:>9} {:>9} {:>9} {:>9}  note",
            "benchmark", "elements", "threads", "target", "median", "least", "most"
        );
        for row in &self.rows {
            let [median, least, most] = row.times;
            let target = row.target.map_or(String::new(), |target| format!("{target:.1}"));
            println!(
                "{:<42} {:>9} {:>7} {target:>9} {median:>9.2} {least:>9.2} {most:>9.2}  {}",
                row.name, row.elements, row.threads, row.note
            );
        }
        println!("times in milliseconds");
    }

    pub(crate) fn csv(&self) -> String {
        let mut csv = String::from(
            "benchmark,elements,threads,target_ms,median_ms,least_ms,most_ms,repeats,note\n",
        );
        for row in &self.rows {
            let [median, least, most] = row.times;
            let target = row.target.map_or(String::new(), |target| target.to_string());
            csv += &format!(
                "{},{},{},{target},{median:.3},{least:.3},{most:.3},{},\"{}\"\n",
                row.name, row.elements, row.threads, row.repeats, row.note
            );
        }
        csv
    }
}

fn milliseconds(run: impl FnOnce()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64() * 1e3
}

fn in_pool<T: Send>(threads: usize, run: impl FnOnce() -> T + Send) -> T {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.expect("threads can be started").install(run)
}
