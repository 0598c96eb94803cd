//! Scenes from names, files and pages. Whatever a scene needs is kept in memory from the start, so
//! that nothing a page asks for later reads or writes a file.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::sync::Arc;

use taut::mesh::load::parse_obj;
use taut::scene::{Folder, MeshFiles, Override, Scene, SceneErrors, library, read_text};

use crate::protocol::Load;

/// The text of a scene and the files that it names.
#[derive(Clone, Debug)]
pub struct Source {
    name: String,
    /// As it is named in messages.
    label: String,
    text: Arc<str>,
    files: Kept,
}

impl Source {
    /// Finds a built-in scene or reads a scene file, with the mesh files that it names.
    ///
    /// # Errors
    /// As [`Scene::find`].
    pub fn find(
        name_or_path: &str,
        overrides: &[Override],
    ) -> Result<(Self, Scene), Box<SceneErrors>> {
        if let Some(source) = Self::built_in(name_or_path) {
            let scene = source.scene(overrides)?;
            return Ok((source, scene));
        }
        let path = Path::new(name_or_path);
        let Ok(text) = read_text(path) else {
            // Says what is wrong with the name or the file.
            let scene = Scene::find(name_or_path, overrides)?;
            let (name, label) = (scene.name.clone(), name_or_path.to_owned());
            let source = Self { name, label, text: Arc::from(""), files: Kept::default() };
            return Ok((source, scene));
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let recorder = Recorder { folder: Folder(folder), files: RefCell::default() };
        let mut scene = Scene::parse_with(name_or_path, &text, &recorder, overrides)?;
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        scene.name = stem.unwrap_or_else(|| name_or_path.to_owned());
        let files = Kept(Arc::new(recorder.files.into_inner()));
        let (name, label, text) = (scene.name.clone(), name_or_path.to_owned(), text.into());
        Ok((Self { name, label, text, files }, scene))
    }

    /// A built-in scene.
    pub(crate) fn built_in(name: &str) -> Option<Self> {
        let text = Arc::from(library::text(name)?);
        let label = format!("scenes/{name}.toml");
        Some(Self { name: name.to_owned(), label, text, files: Kept::default() })
    }

    /// What was dropped on a page: a scene with its meshes, or a mesh that becomes cloth over a floor.
    pub(crate) fn dropped(load: Load) -> Result<Self, String> {
        let Load { name, text, files } = load;
        let (stem, ending) = name.rsplit_once('.').unwrap_or((&name, ""));
        let stem = stem.rsplit(['/', '\\']).next().unwrap_or(stem).to_owned();
        let mut files: BTreeMap<String, Vec<u8>> =
            files.into_iter().map(|(name, text)| (name, text.into_bytes())).collect();
        let text = match ending.to_ascii_lowercase().as_str() {
            "toml" => text,
            "obj" => {
                let scene = scene_of_mesh(&text, &name)?;
                files = BTreeMap::from([(MESH.to_owned(), text.into_bytes())]);
                scene
            }
            _ => return Err(format!("{name}: drop a scene (.toml) or a mesh (.obj)")),
        };
        Ok(Self { name: stem, label: name, text: text.into(), files: Kept(Arc::new(files)) })
    }

    /// The scene, with some of its values replaced.
    ///
    /// # Errors
    /// Everything that is wrong with it or with the values.
    pub(crate) fn scene(&self, overrides: &[Override]) -> Result<Scene, Box<SceneErrors>> {
        let mut scene = Scene::parse_with(&self.label, &self.text, &self.files, overrides)?;
        scene.name.clone_from(&self.name);
        Ok(scene)
    }
}

/// The only file of a scene that is made from a mesh.
const MESH: &str = "mesh.obj";

/// The text of a scene with the mesh as cloth over a floor.
fn scene_of_mesh(text: &str, name: &str) -> Result<String, String> {
    let loaded = parse_obj(text.as_bytes(), Path::new(name)).map_err(|error| error.to_string())?;
    let bounds = loaded.mesh.bounds().ok_or_else(|| format!("{name}: the mesh is empty"))?;
    let size = bounds.size().length();
    let floor = bounds.min.y - 0.1 * size;
    Ok(format!(
        "title = \"A mesh as cloth\"\n\
         substeps = 5\n\
         iterations = 4\n\
         [[bodies]]\n\
         name = \"mesh\"\n\
         mesh.file = {{ path = \"{MESH}\" }}\n\
         thickness = {}\n\
         elements = {{ stretch.stiffness = 0.9, bend.stiffness = 0.2 }}\n\
         [[shapes]]\n\
         name = \"floor\"\n\
         geometry.plane = {{}}\n\
         position = [0, {floor}, 0]\n",
        2e-3 * size
    ))
}

/// Files in memory.
#[derive(Clone, Debug, Default)]
struct Kept(Arc<BTreeMap<String, Vec<u8>>>);

impl MeshFiles for Kept {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let name = path.to_string_lossy();
        // Pages know files by their names only, scenes may know the folders as well.
        let last = |name: &str| name.rsplit(['/', '\\']).next().unwrap_or(name).to_owned();
        let by_last = || self.0.iter().find(|(key, _)| last(key) == last(&name));
        let found = self.0.get(&*name).or_else(|| by_last().map(|(_, bytes)| bytes));
        let missing = "it did not come with the scene; drop both on the page together";
        found.cloned().ok_or_else(|| io::Error::new(io::ErrorKind::NotFound, missing))
    }
}

/// Files of a folder, kept for later.
struct Recorder<'a> {
    folder: Folder<'a>,
    files: RefCell<BTreeMap<String, Vec<u8>>>,
}

impl MeshFiles for Recorder<'_> {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let bytes = self.folder.read(path)?;
        self.files.borrow_mut().insert(path.to_string_lossy().into_owned(), bytes.clone());
        Ok(bytes)
    }

    fn label(&self, path: &Path) -> String {
        self.folder.label(path)
    }
}

#[cfg(test)]
mod tests {
    //! Contract: scenes come with all they need, and no message of a page can reach a file.

    use super::*;

    const TRIANGLE: &str = "v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 2 3\n";

    fn load(name: &str, text: &str, files: &[(&str, &str)]) -> Load {
        let files = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned()));
        Load { name: name.to_owned(), text: text.to_owned(), files: files.collect() }
    }

    fn cloth(path: &str) -> String {
        format!(
            "[[bodies]]\nname = \"a\"\nmesh.file = {{ path = {path:?} }}\nelements.stretch = {{ stiffness = 1 }}\n"
        )
    }

    #[test]
    fn a_dropped_scene_has_its_files_from_memory() {
        let dropped = load("a.toml", &cloth("meshes/t.obj"), &[("t.obj", TRIANGLE)]);
        let scene = Source::dropped(dropped).unwrap().scene(&[]).unwrap();
        assert_eq!((scene.name.as_str(), scene.meshes[0].positions.len()), ("a", 3));
    }

    #[test]
    fn a_dropped_mesh_becomes_cloth() {
        let source = Source::dropped(load("x/t.OBJ", TRIANGLE, &[])).unwrap();
        let scene = source.scene(&[]).unwrap();
        assert_eq!((scene.name.as_str(), scene.file.shapes.len()), ("t", 1));
        assert!(Source::dropped(load("t.obj", "nothing", &[])).is_err());
        assert!(Source::dropped(load("t.exe", "", &[])).unwrap_err().contains(".toml"));
    }

    #[test]
    fn no_scene_and_no_value_reads_a_file() {
        let folder = std::env::temp_dir().join(format!("taut-source-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let secret = folder.join("secret.obj");
        std::fs::write(&secret, TRIANGLE).unwrap();
        let path = secret.to_str().unwrap();
        for path in [path, "../../../../../../etc/hostname", "Cargo.toml"] {
            let dropped = Source::dropped(load("a.toml", &cloth(path), &[])).unwrap();
            let error = dropped.scene(&[]).unwrap_err().to_string();
            assert!(error.contains("did not come with the scene"), "{error}");
            let set = format!("bodies.0.mesh={{file={{path={path:?}}}}}").parse().unwrap();
            let built_in = Source::built_in("hanging-cloth").unwrap();
            assert!(built_in.scene(&[set]).unwrap_err().to_string().contains("did not come"));
        }
        // A scene that was named on the command line may read its own mesh, once.
        std::fs::write(folder.join("own.toml"), cloth("secret.obj")).unwrap();
        let (own, scene) = Source::find(folder.join("own.toml").to_str().unwrap(), &[]).unwrap();
        assert_eq!(scene.name, "own");
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(own.scene(&[]).unwrap().meshes[0].positions.len(), 3);
        let other: Override = "bodies.0.mesh.file.path=/etc/hostname".parse().unwrap();
        assert!(own.scene(&[other]).is_err());
    }
}
