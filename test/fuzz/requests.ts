/** Requests of an operation as data: valid ones from its schema, and every kind of invalid one. */
import type { TSchema } from '@sinclair/typebox'
import fc, { type Arbitrary } from 'fast-check'
import { type NamedOp, pathParams, readsOnly } from '#contract/op'
import { legalInputs } from '#test/support/contract/arbitrary'
import { faultsOf, withValue } from '#test/support/contract/sample'
import {
  bodies,
  cursors,
  keys,
  methods,
  names,
  requestIds,
  searches,
  types,
  weird,
} from './values.ts'

/** Who sends a request; test/fuzz/world.ts has their credentials. */
const callers = [
  'able',
  'able',
  'able',
  'able',
  'able',
  'able',
  'able',
  'reader',
  'writer',
  'editor',
  'approver',
  'viewer',
  'owner',
  'revoked',
  'nobody',
  'garbage',
] as const
export type CallerName = (typeof callers)[number]

/**
 * Where path parameters come from: a record made for this request and in the right state, any
 * existing record, or the input itself.
 */
export type Aim = 'legal' | 'existing' | 'invented'

export interface Wish {
  input: Record<string, unknown>
  aim: Aim
  /** Picks among existing records. */
  pick: number
  caller: CallerName
  headers: Record<string, string>
  /** Sent unchanged in place of the input. */
  raw?: string | undefined
  /** Appended to the path unchanged. */
  search?: string | undefined
  method?: string | undefined
  /** What the plan refuses during the request. */
  plan: 'open' | 'suspended' | 'spent' | 'bare'
}

/** The paths of all fields, such as `writing_dna.stories`. */
const pathsIn = (schema: TSchema, under = ''): string[] =>
  Object.entries((schema.properties ?? {}) as Record<string, TSchema>).flatMap(([name, child]) => {
    const path = under ? `${under}.${name}` : name
    return [path, ...pathsIn(child, path)]
  })

const without = (input: Record<string, unknown>, name: string) =>
  Object.fromEntries(Object.entries(input).filter(([key]) => key !== name))

type Change = (input: Record<string, unknown>) => Record<string, unknown>

/** One change that makes an input invalid, or may do so. */
const changes = (o: NamedOp): Arbitrary<Change> => {
  const paths = pathsIn(o.input)
  const faults = faultsOf(o.input)
  const added: Arbitrary<Change> = fc
    .tuple(fc.constantFrom(...names), fc.constantFrom(...weird))
    .map(
      ([name, value]) =>
        (input) =>
          Object.defineProperty({ ...input }, name, {
            value,
            enumerable: true,
            configurable: true,
            writable: true,
          }),
    )
  if (paths.length === 0) return added
  const fields = fc.constantFrom(...paths)
  const replaced: Arbitrary<Change> = fc.tuple(fields, fc.constantFrom(...weird)).map(
    ([path, value]) =>
      (input) =>
        withValue(input, path, value),
  )
  const removed: Arbitrary<Change> = fields.map(
    (path) => (input) => without(input, path.split('.')[0]!),
  )
  const cursor: Arbitrary<Change> = fc
    .constantFrom(...cursors)
    .map((value) => (input) => ({ ...input, cursor: value }))
  const wrong: Arbitrary<Change> =
    faults.length > 0
      ? fc.constantFrom(...faults).map(
          ({ path, value }) =>
            (input) =>
              withValue(input, path, value),
        )
      : removed
  return fc.oneof(
    { weight: 4, arbitrary: wrong },
    { weight: 4, arbitrary: replaced },
    removed,
    added,
    ...(paths.includes('cursor') ? [cursor] : []),
  )
}

/** Unusual ways to send an otherwise ordinary request. */
const framing = (o: NamedOp): Arbitrary<Partial<Wish>> => {
  const plain = fc.constant({})
  const ofBody = fc.oneof(
    fc.constantFrom(...bodies).map((raw) => ({ raw })),
    fc.constantFrom(...types).map((type) => ({ headers: { 'content-type': type } })),
    fc.constantFrom(...searches).map((search) => ({ search })),
  )
  const ofQuery = fc.constantFrom(...searches).map((search) => ({ search }))
  const odd: Arbitrary<Partial<Wish>> = fc.oneof(
    { weight: 3, arbitrary: readsOnly(o) ? ofQuery : ofBody },
    fc.constantFrom(...methods).map((method) => ({ method })),
    fc.constantFrom(...requestIds).map((id) => ({ headers: { 'x-request-id': id } })),
  )
  return fc.oneof({ weight: 6, arbitrary: plain }, { weight: 1, arbitrary: odd })
}

const aims = (o: NamedOp): Arbitrary<Aim> =>
  pathParams(o.path).length === 0 && readsOnly(o)
    ? fc.constant('invented')
    : fc.constantFrom('legal', 'legal', 'existing', 'existing', 'existing', 'invented')

/** Half follow the schema, half have one or two changes. */
export const wishes = (o: NamedOp): Arbitrary<Wish> =>
  fc
    .record({
      input: legalInputs(o),
      change: fc.oneof(
        fc.constant<Change[]>([]),
        fc.array(changes(o), { minLength: 1, maxLength: 2 }),
      ),
      aim: aims(o),
      pick: fc.nat(),
      caller: fc.constantFrom(...callers),
      key: fc.oneof(
        { weight: 5, arbitrary: fc.constant(undefined) },
        { weight: 2, arbitrary: fc.constantFrom(...keys) },
      ),
      framing: framing(o),
      plan: fc.constantFrom<Wish['plan'][]>(
        'open',
        'open',
        'open',
        'open',
        'open',
        'suspended',
        'spent',
        'bare',
      ),
    })
    .map(({ input, change, key, framing: odd, ...rest }) => ({
      ...rest,
      ...odd,
      // Made-up cursors come from a change of their own.
      input: change.reduce((before, one) => one(before), without(input, 'cursor')),
      headers: { ...(key === undefined ? {} : { 'idempotency-key': key }), ...odd.headers },
    }))
