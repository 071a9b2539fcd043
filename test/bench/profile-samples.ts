/** What Bun's sampling profiler saw, by whose code it is. */

interface Frame {
  functionName: string
  url: string
  lineNumber: number
}

export interface CpuProfile {
  nodes: { id: number; callFrame: Frame; children?: number[] }[]
  samples: number[]
  /** Microseconds since the previous sample. */
  timeDeltas: number[]
}

/** The owner of a frame by its file; the first match counts. */
const OWNERS: [RegExp, string][] = [
  [/node_modules\/postgres\//, 'postgres.js'],
  [/node_modules\/(pg|pg-[^/]+|postgres-[^/]+)\//, 'pg'],
  [/node_modules\/@dbos-inc\//, 'DBOS'],
  [/node_modules\/elysia\//, 'Elysia'],
  [/node_modules\/@sinclair\//, 'TypeBox'],
  [/node_modules\/pino\//, 'pino'],
  [/node_modules\//, 'other packages'],
  [/test\/bench\//, 'the peer itself'],
  [/\/src\/(edge|ops|decisions|store|domain|contract|port|kernel|server)\//, 'ours: $1'],
  [/\/src\//, 'ours: the rest of src'],
  [/\/actors\//, 'ours: actors'],
]
/** Native functions that are grouped by name, whoever calls them. */
const NATIVE: [RegExp, string][] = [
  [/^writeBuffered$/, 'socket write to Postgres'],
  [/^(stringify|parse)$/, 'JSON'],
  [/^(update|digest|Hash|hash|createHash|timingSafeEqual|Hmac)$/, 'hashes'],
]
const ANSWER = 'Bun: promises settled, the answer written to the caller'
const TIMERS = 'timers'

const first = (rules: [RegExp, string][], text: string): string | undefined => {
  for (const [rule, name] of rules) {
    const match = rule.exec(text)
    if (match) return name.replace('$1', match[1] ?? '')
  }
  return undefined
}

/**
 * The group of each node: by its own file, else by the name of a native function, else by its
 * caller.
 */
const groupsOf = ({ nodes }: CpuProfile): Map<number, string> => {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(
    nodes.flatMap(({ id, children = [] }) =>
      children.map((child): [number, number] => [child, id]),
    ),
  )
  const groupOf = (id: number): string => {
    const names: string[] = []
    for (let at: number | undefined = id; at !== undefined; at = parents.get(at)) {
      const { url, functionName } = byId.get(at)!.callFrame
      const owner = first(OWNERS, url)
      if (names.length === 0 || !owner) names.push(functionName)
      const native = url === '' && at === id ? first(NATIVE, functionName) : undefined
      if (native) return native
      if (owner) return owner
    }
    if (
      names.some((name) =>
        /^(setTimeout|clearTimeout|setImmediate|processTimers|processImmediate)$/.test(name),
      )
    )
      return TIMERS
    return names.includes('processTicksAndRejections') ? ANSWER : 'Bun: other'
  }
  return new Map(nodes.map(({ id }) => [id, groupOf(id)]))
}

/** A regular expression's name is its whole source. */
const LONGEST_NAME = 80

const label = ({ functionName, url, lineNumber }: Frame): string => {
  const name =
    functionName.length > LONGEST_NAME ? `${functionName.slice(0, LONGEST_NAME)}…` : functionName
  const file = url.replace(/^.*\/(node_modules|src|actors|test)\//, '$1/')
  return file ? `${name || '(anonymous)'} ${file}:${lineNumber + 1}` : name || '(native)'
}

/** Sums by name, largest first. */
export type Sums = Map<string, number>

export interface Sampled {
  groups: Sums
  functions: Sums
  samples: number
}

/** Counts samples between two moments, in milliseconds since the start of the process. */
export const sampled = (profile: CpuProfile, from: number, to: number): Sampled => {
  const byNode = new Map<number, number>()
  let [at, samples] = [0, 0]
  profile.samples.forEach((id, index) => {
    at += profile.timeDeltas[index]!
    if (at < from * 1_000 || at > to * 1_000) return
    samples++
    byNode.set(id, (byNode.get(id) ?? 0) + 1)
  })
  const [groups, functions]: [Sums, Sums] = [new Map(), new Map()]
  const add = (sums: Sums, name: string, value: number) =>
    sums.set(name, (sums.get(name) ?? 0) + value)
  const groupOf = groupsOf(profile)
  for (const { id, callFrame } of profile.nodes) {
    const count = byNode.get(id) ?? 0
    if (count === 0) continue
    add(groups, groupOf.get(id)!, count)
    add(functions, `${groupOf.get(id)} — ${label(callFrame)}`, count)
  }
  return { groups, functions, samples }
}

export const largestFirst = (sums: Sums): [string, number][] =>
  [...sums].sort((a, b) => b[1] - a[1])
