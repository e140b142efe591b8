/**
 * Which language a file is in, by its name. Whether the bytes are text at all is decided by the code that reads them;
 * this only spares opening files whose name says that they are not text.
 */
import type { Language } from "./facts.ts";

const BY_EXTENSION: Readonly<Record<string, Language>> = {
  ts: "typescript",
  mts: "typescript",
  cts: "typescript",
  tsx: "tsx",
  js: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  jsx: "javascript",
  py: "python",
  pyi: "python",
  pyw: "python",
  go: "go",
  rs: "rust",
  java: "java",
  c: "cpp",
  h: "cpp",
  cc: "cpp",
  cpp: "cpp",
  cxx: "cpp",
  "c++": "cpp",
  hh: "cpp",
  hpp: "cpp",
  hxx: "cpp",
  "h++": "cpp",
  inl: "cpp",
  ipp: "cpp",
  tpp: "cpp",
  md: "markdown",
  markdown: "markdown",
  mdx: "markdown",
};

/** The interpreter of a script that has no extension, as its first line names it. */
const BY_INTERPRETER: Readonly<Record<string, Language>> = {
  node: "javascript",
  bun: "typescript",
  deno: "typescript",
  "ts-node": "typescript",
  tsx: "typescript",
  python: "python",
  pypy: "python",
};

/** Extensions of files that hold no text: searching their bytes would be useless. */
const NOT_TEXT = new Set(
  [
    "png jpg jpeg gif bmp ico icns webp avif heic tif tiff psd ai eps xcf sketch fig",
    "mp3 mp4 m4a m4v wav ogg oga ogv opus flac aac avi mov mkv webm wmv",
    "zip gz tgz bz2 tbz2 xz txz zst lz4 lzma 7z rar tar br jar war ear whl egg nupkg gem crate deb rpm apk dmg iso cab msi",
    "woff woff2 ttf otf eot",
    "pdf doc docx xls xlsx ppt pptx odt ods odp epub",
    "exe dll so dylib a o obj lib pdb class pyc pyo pyd wasm node bin dat",
    "sqlite sqlite3 db db3 mdb parquet avro orc npy npz pkl pickle h5 onnx pt pth safetensors tflite",
    "lockb keystore jks p12 pfx der",
  ].flatMap((line) => line.split(" ")),
);

/**
 * The language of a file, or undefined for files whose name says that they are not text (images, archives, fonts,
 * binaries).
 *
 * @example
 * languageOf("src/lease.ts"); // "typescript"
 * languageOf("bin/deploy", "#!/usr/bin/env python3"); // "python"
 * languageOf("logo.png"); // undefined
 */
export function languageOf(path: string, firstLine?: string): Language | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).toLowerCase();
  const dot = name.lastIndexOf(".");
  const extension = dot > 0 ? name.slice(dot + 1) : "";
  if (NOT_TEXT.has(extension)) return undefined;
  // `hasOwn`, because a file may well be called "x.constructor".
  const known = Object.hasOwn(BY_EXTENSION, extension) ? BY_EXTENSION[extension] : undefined;
  if (known !== undefined) return known;
  return extension === "" && firstLine !== undefined ? byInterpreter(firstLine) : "text";
}

function byInterpreter(firstLine: string): Language {
  const [, command = ""] = /^#!\s*(?:\S*\/env\s+(?:-\S+\s+)*)?(?:\S*\/)?([a-z-]+)/.exec(firstLine.slice(0, 256)) ?? [];
  const known = Object.hasOwn(BY_INTERPRETER, command) ? BY_INTERPRETER[command] : undefined;
  return known ?? "text";
}
