// Writes the API reference, docs/api, from the docstrings of lib: node scripts/api_reference.mjs. A test compares the result with the
// sources. Fails if an export, or a public method or field of one, has no docstring.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

import { parseSync } from 'vite';

const root = fileURLToPath(new URL('../', import.meta.url));

/** The entries of the package that have a page, and the first sentence of the page. */
const entries = [
  [
    'fpga-verbs',
    'lib/index.ts',
    'verbs',
    'Verbs on an HCA: devices, and the objects that programs create from them.',
  ],
  [
    'fpga-verbs/connect',
    'lib/connect/index.ts',
    'connect',
    'Connects queue pairs in one call and awaits operations.',
  ],
  [
    'fpga-verbs/board',
    'lib/board/index.ts',
    'board',
    'Creates, steps and observes emulated boards and fabrics, and injects faults.',
  ],
  ['fpga-verbs/watch', 'lib/watch/index.ts', 'watch', 'Shows a board of the program on a live page.'],
];

/** A source file: its text, its declarations by name with their docstrings, and the origin of other names. */
class Source {
  static #known = new Map();

  static of(file) {
    if (!this.#known.has(file)) this.#known.set(file, new Source(file));
    return this.#known.get(file);
  }

  constructor(file) {
    this.file = file;
    this.text = readFileSync(path.join(root, file), 'utf8');
    const { program, comments } = parseSync(file, this.text);
    this.comments = new Map(
      comments
        .filter(({ type, value }) => type === 'Block' && value.startsWith('*'))
        .map(({ value, start, end }) => [this.#after(end), { value, start }]),
    );
    this.declarations = new Map();
    /** Exported name → [file, name there, it is a type]. */
    this.exports = new Map();
    for (const node of program.body) this.#take(node);
  }

  /** The first position behind `at` that is not white space. */
  #after(at) {
    return at + /^\s*/.exec(this.text.slice(at))[0].length;
  }

  #take(node) {
    if (node.type === 'ExportNamedDeclaration' && node.source !== null) {
      const from = this.#resolve(node.source.value);
      for (const { local, exported } of node.specifiers) this.exports.set(exported.name, [from, local.name]);
      return;
    }
    const declaration = node.type === 'ExportNamedDeclaration' ? node.declaration : node;
    const named = declaration?.id ?? declaration?.declarations?.[0]?.id;
    if (named?.name === undefined) return;
    const known = this.declarations.get(named.name) ?? [];
    this.declarations.set(named.name, [...known, { node: declaration, doc: this.docOf(node) }]);
    if (node !== declaration) this.exports.set(named.name, [this.file, named.name]);
  }

  #resolve(specifier) {
    return path.join(path.dirname(this.file), specifier);
  }

  docOf({ start }) {
    return this.comments.get(start)?.value;
  }

  slice({ start, end }) {
    return this.text
      .slice(start, end)
      .replaceAll(/\/\*\*[\s\S]*?\*\//g, '')
      .replaceAll(/\s+/g, ' ')
      .trim();
  }
}

/** The source that declares a name, and its declarations there. */
function find(file, name) {
  const source = Source.of(file);
  if (source.declarations.has(name)) return { source, parts: source.declarations.get(name) };
  if (source.exports.has(name)) return find(...source.exports.get(name));
  // An index that re-exports all of another file.
  for (const [, from] of source.text.matchAll(/export \* from '([^']+)'/g)) {
    const other = path.join(path.dirname(file), from);
    if (existsSync(path.join(root, other)) && find(other, name) !== undefined) return find(other, name);
  }
  return undefined;
}

/** A docstring in Markdown. */
function markdown(doc, indent = '') {
  const text = doc
    .replace(/^\*/, '')
    .split('\n')
    .map((line) => line.replace(/^\s*\* ?/, ''))
    .join('\n')
    .trim()
    .replaceAll(
      /\{@link (\w+)\.?(\w+)?\}/g,
      (_, name, member) => `\`${member === undefined ? name : `${name}.${member}`}\``,
    );
  const [said, ...tags] = ` ${text}`.split(/(?:^|\s)(?=@(?:param|returns|throws)\b)/);
  const lines = tags.map(
    (tag) =>
      `- ${tag
        .trim()
        .replaceAll(/\s+/g, ' ')
        .replace(/^@param (\w+)/, '`$1`:')
        .replace(/^@returns/, 'returns')
        .replace(/^@throws/, 'throws')}`,
  );
  return [said.trim(), lines.join('\n')]
    .filter((part) => part !== '')
    .map((part) => indent + part)
    .join('\n\n');
}

/** Formats text as a cell of a table. */
const cell = (text) => text.replaceAll(/\s+/g, ' ').replaceAll('|', '\\|').trim();

/** Properties that many classes have. */
const common = {
  label: 'Kind and number: `queue pair 258`.',
  name: 'Of the class.',
};

const isPrivate = ({ accessibility, key }) =>
  accessibility === 'private' || accessibility === 'protected' || key?.type === 'PrivateIdentifier';

function signatureOf(source, node) {
  const { value } = node;
  const end = value?.body?.start ?? node.end;
  const words = source.slice({ start: node.start, end }).replace(/;$/, '');
  return words.replace(/^(?:public |override )+/, '');
}

/** The type of a property: the declared one, otherwise that of its value. */
function typeOf(source, { typeAnnotation, value }) {
  if (typeAnnotation?.type === 'TSTypeAnnotation') return source.slice(typeAnnotation).replace(/^:\s*/, '');
  if (value?.type === 'TSAsExpression') return source.slice(value.typeAnnotation);
  return typeof value?.value === 'object' || value?.value === undefined ? 'object' : typeof value.value;
}

function memberRows(source, members, owner, missing) {
  const rows = members.map((member) => {
    const name = source.slice(member.key ?? member) + (member.optional === true ? '?' : '');
    const isMethod = member.type === 'TSMethodSignature';
    const [shown, type] = isMethod
      ? [source.slice(member).replace(/;$/, ''), '']
      : [name, typeOf(source, member)];
    const doc = source.docOf(member);
    if (doc === undefined) missing.push(`${owner}.${name}`);
    return `| \`${cell(shown)}\` | ${type === '' ? '' : `\`${cell(type)}\``} | ${doc === undefined ? '' : cell(markdown(doc))} |`;
  });
  return rows.length === 0 ? '' : ['| member | type | |', '| --- | --- | --- |', ...rows].join('\n');
}

function classText(source, node, missing) {
  const members = node.body.body.filter((member) => !isPrivate(member));
  const fields = members.filter(({ type, kind }) => type === 'PropertyDefinition' || kind === 'get');
  const rows = fields.map((member) => {
    const doc = source.docOf(member);
    const name = source.slice(member.key);
    const said = doc === undefined ? (common[name] ?? '') : cell(markdown(doc));
    if (said === '') missing.push(`${node.id.name}.${name}`);
    const type =
      member.kind === 'get'
        ? source.slice(member.value.returnType).replace(/^:\s*/, '')
        : typeOf(source, member);
    return `| \`${cell(name)}\` | \`${cell(type)}\` | ${said} |`;
  });
  const methods = members.filter(({ type, kind }) => type === 'MethodDefinition' && kind !== 'get');
  const texts = methods.map((member) => {
    const doc = source.docOf(member);
    const name = `${node.id.name}.${source.slice(member.key)}`;
    const isSymbol = member.computed === true;
    if (doc === undefined && !isSymbol) missing.push(name);
    return `#### \`${signatureOf(source, member)}\`\n${doc === undefined ? '' : `\n${markdown(doc)}\n`}`;
  });
  const table =
    rows.length === 0 ? [] : [['| property | type | |', '| --- | --- | --- |', ...rows].join('\n')];
  return [...table, ...texts].join('\n\n');
}

function constText(source, { declarations: [{ init }] }) {
  const object = init?.type === 'TSAsExpression' ? init.expression : init;
  if (object?.type !== 'ObjectExpression') return '';
  const rows = object.properties.map((each) => {
    const doc = source.docOf(each);
    return `| \`${source.slice(each.key)}\` | \`${cell(source.slice(each.value))}\` | ${doc === undefined ? '' : cell(markdown(doc))} |`;
  });
  return ['| value | | |', '| --- | --- | --- |', ...rows].join('\n');
}

const kinds = {
  ClassDeclaration: 'class',
  TSInterfaceDeclaration: 'interface',
  TSTypeAliasDeclaration: 'type',
  FunctionDeclaration: 'function',
  VariableDeclaration: 'const',
};

function section(name, { source, parts }, missing) {
  const part = parts.find(({ doc }) => doc !== undefined) ?? parts[0];
  if (part.doc === undefined) missing.push(name);
  const { node } = part;
  const superclass = node.superClass ?? undefined;
  const heads = [
    superclass === undefined ? '' : ` extends ${source.slice(superclass)}`,
    ...(node.extends ?? []).map((each) => ` extends ${source.slice(each)}`),
  ].join('');
  const body = {
    class: () => classText(source, node, missing),
    interface: () => memberRows(source, node.body.body, name, missing),
    type: () => `\`\`\`ts\n${source.slice(node)}\n\`\`\``,
    function: () =>
      `\`\`\`ts\n${source.slice({ start: node.start, end: node.body?.start ?? node.end })}\n\`\`\``,
    const: () => constText(source, node),
  }[kinds[node.type]]();
  const doc = part.doc === undefined ? '' : markdown(part.doc);
  return [`### ${kinds[node.type]} ${name}${heads}`, doc, body].filter((text) => text !== '').join('\n\n');
}

/** The pages, by path. @throws Error: an export, a public method or a field has no docstring */
export function apiReference() {
  const missing = [];
  const pages = new Map();
  for (const [entry, file, page, about] of entries) {
    const names = [...Source.of(file).exports.keys()].toSorted((one, other) => one.localeCompare(other));
    const sections = names.map((name) => section(name, find(file, name), missing));
    const base =
      page === 'verbs'
        ? [section('VerbsObject', find('lib/verbs/verbs_object.ts', 'VerbsObject'), missing)]
        : [];
    const text = [
      `# ${entry}`,
      `<!-- written by scripts/api_reference.mjs from the docstrings; do not edit -->`,
      about,
      ...sections,
      ...base,
    ];
    pages.set(`docs/api/${page}.md`, `${text.join('\n\n').replaceAll(/\n{3,}/g, '\n\n')}\n`);
  }
  if (missing.length > 0) throw new Error(`no docstring: ${missing.join(', ')}`);
  return pages;
}

/** Names of the exports of an entry that has a page. */
export function exportsOf(entry) {
  const [, file] = entries.find(([name]) => name === entry);
  return [...Source.of(file).exports.keys()];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  mkdirSync(path.join(root, 'docs/api'), { recursive: true });
  for (const [file, text] of apiReference()) writeFileSync(path.join(root, file), text);
}
