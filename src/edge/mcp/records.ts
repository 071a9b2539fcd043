/** One tool that reads any record by its kind and id: a tool for each kind would cost a model more than the reading. */
import { Type as T, type TObject } from '@sinclair/typebox'
import { Id, oneOf, record } from '#contract/shapes'
import type { Operation } from '#ops/bind'
import { validate } from '#ops/validate'

export const RECORD_TOOL = 'growth_get_record'
const ID = 'growth.records.get'

/** The operations of an MCP server, by id. */
type Operations = ReadonlyMap<string, Operation>

const PATH = /^\/api\/v1\/growth\/[a-z-]+\/:id$/

/** The name of the record in an answer: `{ batch: {…} }`. */
const nameIn = ({ output }: Pick<Operation, 'output'>): string => Object.keys((output as TObject).properties)[0]!

/** What an operation reads by its id; undefined for all others. */
export const kindOf = (o: Operation): string | undefined => (o.kind === 'query' && PATH.test(o.path) ? nameIn(o) : undefined)

const kindsIn = (all: readonly Operation[]): ReadonlyMap<string, Operation> =>
  new Map(
    all.flatMap((o) => {
      const kind = kindOf(o)
      return kind === undefined ? [] : [[kind, o] as const]
    }),
  )

/** The tool as an operation of this surface alone: the others have one for each kind. */
export const withRecords = (all: readonly Operation[]): Operation[] => {
  const kinds = kindsIn(all)
  const input = T.Object({ kind: oneOf([...kinds.keys()]), id: Id }, { additionalProperties: false })
  const [example] = kinds.values()
  const run: Operation['run'] = async (read, call) => {
    const given = await read()
    validate(input, given)
    const { kind, id } = given as { kind: string; id: string }
    return kinds.get(kind)!.run(() => ({ id }), call)
  }
  const tool = {
    ...{ id: ID, tool: RECORD_TOOL, toolset: 'content', agent: 'never', foreign: true, input, output: record({}), run },
    summary: 'Read one record by its id: all of its text, and what became of it.',
  }
  return [...all, { ...example!, ...tool } as unknown as Operation]
}

interface Resolved {
  operation: Operation
  input: unknown
  /** Whether it reads a record whole. */
  whole: boolean
}

/** The operation and input that a call comes down to: that of the kind, whose answer it gives. */
export const resolved = (operations: Operations, o: Operation, input: unknown): Resolved => {
  if (o.id !== ID) return { operation: o, input, whole: false }
  const { kind, id, ...rest } = input as { kind?: unknown; id?: unknown }
  const operation =
    typeof kind === 'string' && id !== undefined && Object.keys(rest).length === 0 ? kindsIn([...operations.values()]).get(kind) : undefined
  return operation ? { operation, input: { id }, whole: true } : { operation: o, input, whole: true }
}
