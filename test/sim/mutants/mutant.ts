import {
  type Fragment,
  fragmentOf,
  holeOf,
  isGlobal,
  isNameOfProperty,
  type Match,
  matchesIn,
  type Node,
  programOf,
  walk,
} from './pattern.ts'

export interface Mutant {
  name: string
  file: string
  /** A pattern (pattern.ts) that fits one place of the file. */
  from: string
  /** What stands there instead, with the names and holes of the pattern. */
  to: string
}

/**
 * Mistakes from a text: after `= ` the file, then of each its name, what stands there after `- `,
 * and what stands there instead after `+ `, line by line.
 */
export const mutantsIn = (text: string): Mutant[] => {
  const mutants: Mutant[] = []
  let file = ''
  for (const line of text.split('\n')) {
    const [mark, rest] = [line.slice(0, 2), line.slice(2)]
    const mutant = mutants.at(-1)
    if (line === '' || mark === '# ') continue
    if (mark === '= ') file = rest
    else if (mark === '- ') mutant!.from += `${rest}\n`
    else if (mark === '+ ') mutant!.to += `${rest}\n`
    else mutants.push({ name: line, file, from: '', to: '' })
  }
  return mutants
}

const namesIn = (value: unknown): Set<string> => {
  const names = new Set<string>()
  walk(value, (node, parent, key) => {
    if (node.type === 'Identifier' && !isNameOfProperty(parent, key)) names.add(node.name as string)
    return true
  })
  return names
}

const declaredIn = (value: unknown): Set<string> => {
  const names = new Set<string>()
  walk(value, (node) => {
    const declared = node.type === 'VariableDeclarator' ? node.id : node.params
    for (const name of namesIn(declared)) names.add(name)
    return true
  })
  return names
}

export interface Edit {
  start: number
  end: number
  text: string
}

export const edited = (
  text: string,
  edits: readonly Edit[],
  [from, to] = [0, text.length],
): string => {
  const parts: string[] = []
  let at = from
  for (const edit of edits) {
    parts.push(text.slice(at, edit.start), edit.text)
    at = edit.end
  }
  return parts.join('') + text.slice(at, to)
}

const BINDS_TIGHTLY =
  /^(?:Identifier|Literal|TemplateLiteral|(?:Member|Call|Array|Function)Expression)$/

const withParentheses = ({ type }: Node, text: string): string =>
  /Expression$/.test(type) && !BINDS_TIGHTLY.test(type) ? `(${text})` : text

/** Where a run of nodes ends: one that is left out takes the comma after it along. */
const endWithComma = (text: string, end: number): number =>
  end + (/^\s*,/.exec(text.slice(end))?.[0].length ?? 0)

const filled = (source: string, { text }: Fragment, hole: Node, run: readonly Node[]): Edit => {
  const [first] = run
  if (!first) return { start: hole.start, end: endWithComma(text, hole.end), text: '' }
  const code = source.slice(first.start, run.at(-1)!.end)
  return {
    start: hole.start,
    end: hole.end,
    text: run.length === 1 ? withParentheses(first, code) : code,
  }
}

/** A replacement with what the names and holes of its pattern stand for. */
const written = (source: string, fragment: Fragment, { names, holes }: Match): string => {
  const edits: Edit[] = []
  walk(fragment.nodes, (node, parent, key) => {
    const { start, end } = node
    const run = holes.get(holeOf(node) ?? '')
    if (run) edits.push(filled(source, fragment, node, run))
    if (run || isNameOfProperty(parent, key)) return false
    const name = names.get(node.name as string)
    const isShorthand = parent?.type === 'Property' && parent.shorthand && name !== node.name
    if (node.type === 'Identifier' && name)
      edits.push({ start, end, text: isShorthand ? `${node.name}: ${name}` : name })
    return true
  })
  return edited(fragment.text, edits, [fragment.nodes[0]!.start, fragment.nodes.at(-1)!.end])
}

const replacementOf = (source: string, { name, file, to }: Mutant, match: Match): string => {
  if (to === '') return match.isAlone ? '{}' : ''
  const fragment = fragmentOf(to)
  const known = [match.names, match.holes, declaredIn(fragment.nodes), namesIn(programOf(source))]
  const unknown = [...namesIn(fragment.nodes)].find(
    (one) => !isGlobal(one) && !known.some((names) => names.has(one)),
  )
  if (unknown) throw new Error(`${name}: ${file} has no ${unknown}`)
  const text = written(source, fragment, match)
  if (!fragment.isList) return withParentheses(fragment.nodes[0]!, text)
  return match.isAlone && fragment.nodes.length > 1 ? `{ ${text} }` : text
}

/** The source with the mistake. Throws if its place is not there, or is there twice. */
export const withMistake = (source: string, mutant: Mutant): string => {
  const { name, file, from } = mutant
  const matches = matchesIn(programOf(source), fragmentOf(from))
  const [match] = matches
  if (!match || matches.length > 1)
    throw new Error(`${name}: ${file} has ${matches.length} places, not one, of: ${from}`)
  const text = replacementOf(source, mutant, match)
  const [start, end] = [match.run[0]!.start, match.run.at(-1)!.end]
  return edited(source, [{ start, end: text === '' ? endWithComma(source, end) : end, text }])
}
