/**
 * One tool that reads any record by its kind and id. A tool for each kind would cost a model more
 * than the reading itself.
 */
import { Type as T, type TObject } from '@sinclair/typebox'
import { Id, oneOf, record } from '#contract/shapes'
import type { Operation } from '#ops/engine/bind'
import { validate } from '#ops/engine/validate'

export const RECORD_TOOL = 'growth_get_record'
const ID = 'growth.records.get'

/** The operations of an MCP server, by id. */
type Operations = ReadonlyMap<string, Operation>

const PATH = /^\/api\/v1\/growth\/[a-z-]+\/:id$/

/** The name of the record in an answer: `{ batch: {…} }`. */
const nameIn = ({ output }: Pick<Operation, 'output'>): string =>
  Object.keys((output as TObject).properties)[0]!

export const isOfAnyKind = ({ id }: Pick<Operation, 'id'>): boolean => id === ID

/** The kind of record that an operation reads by id. Undefined for all other operations. */
export const recordKindOf = (o: Operation): string | undefined =>
  o.kind === 'query' && PATH.test(o.path) ? nameIn(o) : undefined

const kindsIn = (all: readonly Operation[]): ReadonlyMap<string, Operation> =>
  new Map(
    all.flatMap((o) => {
      const kind = recordKindOf(o)
      return kind === undefined ? [] : [[kind, o] as const]
    }),
  )

/** Far beyond the length of any text of a record. */
const LAST = 10_000_000

const inputOf = (kinds: string[]) =>
  T.Object(
    {
      kind: oneOf(kinds),
      id: Id,
      from: T.Optional(
        T.Integer({
          minimum: 0,
          maximum: LAST,
          description: 'To read on: the character that the answer before names.',
        }),
      ),
    },
    { additionalProperties: false },
  )

/** The tool as an operation that only this surface has. The others have one for each kind. */
export const withRecords = (all: readonly Operation[]): Operation[] => {
  const kinds = kindsIn(all)
  const input = inputOf([...kinds.keys()])
  const [example] = kinds.values()
  const run: Operation['run'] = async (read, call) => {
    const given = await read()
    validate(input, given)
    const { kind, id } = given as { kind: string; id: string }
    return kinds.get(kind)!.run(() => ({ id }), call)
  }
  const tool = {
    id: ID,
    tool: RECORD_TOOL,
    toolset: 'content',
    agent: 'never',
    foreign: true,
    input,
    output: record({}),
    run,
    summary: 'Read one record by its id: all of its text, and what became of it.',
  }
  return [...all, { ...example!, ...tool } as unknown as Operation]
}

interface Resolved {
  operation: Operation
  input: unknown
  /** Whether it reads a record whole. */
  whole: boolean
  /** The character of its longest text to begin with. */
  from?: number | undefined
}

const isStart = (value: unknown): value is number | undefined =>
  value === undefined ||
  (Number.isInteger(value) && (value as number) >= 0 && (value as number) <= LAST)

/**
 * The operation and input that a call stands for. For this tool, it is the operation of the kind,
 * whose answer the tool returns.
 */
export const resolveCall = (operations: Operations, o: Operation, input: unknown): Resolved => {
  if (o.id !== ID) return { operation: o, input, whole: false }
  const { kind, id, from, ...rest } = input as { kind?: unknown; id?: unknown; from?: unknown }
  const isComplete =
    typeof kind === 'string' && id !== undefined && isStart(from) && Object.keys(rest).length === 0
  const operation = isComplete ? kindsIn([...operations.values()]).get(kind) : undefined
  // An invalid call goes to the tool's own operation, which says what is wrong.
  return operation
    ? { operation, input: { id }, whole: true, from: from as number | undefined }
    : { operation: o, input, whole: true }
}
