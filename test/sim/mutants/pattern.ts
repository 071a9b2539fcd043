/**
 * Finds a place in a program by its structure. A pattern is a piece of code: an expression, or some
 * statements, properties or cases. In it
 * - line breaks, parentheses and comments do not count, nor do types that it leaves out;
 * - a name of a variable, a function or a type stands for any name, the same one each time, so that
 *   a rename moves no place; names of properties and of what JavaScript defines must be the same;
 * - `$x` stands for any one node, and `$$x` for any number of neighbours: arguments, elements,
 *   properties, statements or (`case $$x:`) cases.
 */
import { parseSync } from 'oxc-parser'

export interface Node {
  type: string
  start: number
  end: number
  [key: string]: unknown
}

const isNode = (value: unknown): value is Node =>
  typeof value === 'object' && value !== null && 'type' in value

const parse = (text: string): Node | undefined => {
  const { program, errors } = parseSync('place.ts', text, { preserveParens: false })
  return errors.length === 0 ? (program as unknown as Node) : undefined
}

const programs = new Map<string, Node>()

export const programOf = (source: string): Node => {
  const program = programs.get(source) ?? parse(source)
  if (!program) throw new Error('the source cannot be parsed')
  programs.set(source, program)
  return program
}

/** Goes through nodes in the order of their text; `false` leaves out what is in one. */
export const walk = (
  value: unknown,
  visit: (node: Node, parent: Node | undefined, key: string) => boolean,
  parent?: Node,
  key = '',
): void => {
  if (Array.isArray(value)) for (const one of value) walk(one, visit, parent, key)
  else if (isNode(value) && visit(value, parent, key))
    for (const [name, child] of Object.entries(value)) walk(child, visit, value, name)
}

export interface Fragment {
  /** The code, within what makes it a program. */
  text: string
  nodes: Node[]
  /** Some of a list, which can also be left out. */
  isList: boolean
}

type Wrapping = readonly [before: string, after: string, path: string]

/** `paused: false` is a property, though the parser would also take it for a statement. */
const WRAPPINGS: readonly Wrapping[] = [
  ['(', '\n)', 'expression'],
  ['({', '\n})', 'expression.properties'],
  ['async () => { for (;;) {', '\n} }', 'expression.body.body.0.body.body'],
  ['() => { switch (0) {', '\n} }', 'expression.body.body.0.cases'],
]

export const fragmentOf = (code: string): Fragment => {
  for (const [before, after, path] of WRAPPINGS) {
    const text = before + code + after
    const statements = (parse(text)?.body ?? []) as Node[]
    if (statements.length !== 1) continue
    const found = path
      .split('.')
      .reduce<unknown>((at, key) => (at as Node | undefined)?.[key], statements[0])
    if (found) return { text, nodes: [found].flat() as Node[], isList: Array.isArray(found) }
  }
  throw new Error(`not a piece of code: ${code}`)
}

/** What a pattern fits, and what its names and holes stand for there. */
export interface Match {
  run: Node[]
  /** A statement without neighbours, as after a condition. */
  isAlone: boolean
  names: Map<string, string>
  holes: Map<string, Node[]>
}

/** The name of a hole: an identifier, or one that is a statement, a property or a case. */
export const holeOf = (node: Node | null): string | undefined => {
  if (node?.type === 'ExpressionStatement') return holeOf(node.expression as Node)
  if (node?.type === 'Property') return node.shorthand ? holeOf(node.value as Node) : undefined
  if (node?.type === 'SwitchCase')
    return (node.consequent as Node[]).length === 0 ? holeOf(node.test as Node | null) : undefined
  const name = node?.type === 'Identifier' ? (node.name as string) : ''
  return name.startsWith('$') ? name : undefined
}

const isRunHole = (node: unknown): boolean =>
  isNode(node) && holeOf(node)?.startsWith('$$') === true

export const isNameOfProperty = (parent: Node | undefined, key: string): boolean =>
  parent !== undefined && !parent.computed && (key === 'property' || key === 'key')

export const isGlobal = (name: string): boolean =>
  name === 'undefined' || (/^[A-Z]/.test(name) && name in globalThis)

const bindName = ({ names }: Match, pattern: string, name: string): boolean => {
  if (isGlobal(pattern) || isGlobal(name)) return pattern === name
  const bound = names.get(pattern) ?? name
  names.set(pattern, bound)
  return bound === name
}

const bindHole = (match: Match, hole: string, run: Node[]): boolean => {
  const isNameless = /^\$+$/.test(hole)
  const bound = isNameless ? undefined : match.holes.get(hole)
  if (bound) return fitsRun(bound, run, { ...match, names: new Map(), holes: new Map() })
  if (!isNameless) match.holes.set(hole, run)
  return true
}

const IGNORED = new Set(['start', 'end', 'raw', 'shorthand', 'decorators'])
const TYPES = new Set(['typeAnnotation', 'returnType', 'typeParameters', 'typeArguments'])

const fits = (pattern: unknown, value: unknown, match: Match, parent?: Node, key = ''): boolean => {
  if (Array.isArray(pattern)) return Array.isArray(value) && fitsRun(pattern, value, match)
  if (!isNode(pattern)) return Bun.deepEquals(pattern, value)
  if (!isNode(value)) return false
  const hole = holeOf(pattern)
  if (hole) return bindHole(match, hole, [value])
  if (pattern.type !== value.type) return false
  const isAnyName = /^(?:Private)?Identifier$/.test(pattern.type) && !isNameOfProperty(parent, key)
  return Object.keys(pattern).every((inner) => {
    if (IGNORED.has(inner) || (TYPES.has(inner) && pattern[inner] === null)) return true
    if (inner === 'name' && isAnyName)
      return bindName(match, pattern.name as string, value.name as string)
    return fits(pattern[inner], value[inner], match, pattern, inner)
  })
}

/** What a try that fails has bound is forgotten. */
const tryTo = (match: Match, fit: () => boolean): boolean => {
  const [names, holes] = [new Map(match.names), new Map(match.holes)]
  if (fit()) return true
  Object.assign(match, { names, holes })
  return false
}

const fitsRun = (patterns: unknown[], values: unknown[], match: Match): boolean => {
  const [first, ...rest] = patterns
  if (patterns.length === 0) return values.length === 0
  if (!isRunHole(first))
    return (
      values.length > 0 &&
      tryTo(match, () => fits(first, values[0], match) && fitsRun(rest, values.slice(1), match))
    )
  const hole = holeOf(first as Node)!
  return [...values.keys(), values.length].some((count) =>
    tryTo(
      match,
      () =>
        bindHole(match, hole, values.slice(0, count) as Node[]) &&
        fitsRun(rest, values.slice(count), match),
    ),
  )
}

/** All places in a program that a pattern fits. */
export const matchesIn = (program: Node, { nodes, isList }: Fragment): Match[] => {
  const found: Match[] = []
  const add = (run: Node[], isAlone: boolean): void => {
    const match: Match = { run, isAlone, names: new Map(), holes: new Map() }
    if (fitsRun(nodes, run, match)) found.push(match)
  }
  const hasRunHole = nodes.some(isRunHole)
  const addRuns = (list: Node[]): void => {
    for (const from of list.keys())
      for (const to of hasRunHole ? [...list.keys(), list.length] : [from + nodes.length])
        if (from < to && to <= list.length) add(list.slice(from, to), false)
  }
  const search = (value: unknown, isAlone: boolean): void => {
    if (Array.isArray(value)) {
      if (isList) addRuns(value)
      for (const one of value) search(one, false)
    } else if (isNode(value)) {
      if (!isList || isAlone) add([value], isAlone)
      for (const child of Object.values(value)) search(child, true)
    }
  }
  search(program, true)
  return found
}
