/** Any legal value of a schema, for properties over the whole contract. */
import type { TSchema } from '@sinclair/typebox'
import fc, { type Arbitrary } from 'fast-check'
import type { NamedOp } from '#contract/op'
import { checkerOf } from '#ops/engine/validate'

/** Characters that cause trouble for programs that process text. */
const AWKWARD = [
  '-',
  '--',
  '@',
  '@@',
  '-x',
  '--json',
  '--',
  '=',
  "'",
  '"',
  '\\',
  '\n',
  '\r\n',
  '\t',
  ' ',
  '$HOME',
  '`',
  '*',
  'é',
  '漢字',
  '👩‍🚀',
  'null',
  '-1',
]

const LONGEST = 60

const formats: Record<string, () => Arbitrary<string>> = {
  uuid: () => fc.uuid(),
  'date-time': () =>
    fc
      .date({ min: new Date(0), max: new Date('2099-01-01'), noInvalidDate: true })
      .map((date) => date.toISOString()),
  'time-zone': () => fc.constantFrom('Europe/Berlin', 'UTC', 'America/Argentina/Buenos_Aires'),
  language: () => fc.constantFrom('en', 'pt-BR', 'zh-Hant-TW'),
  uri: () => fc.webUrl({ withQueryParameters: true, withFragments: true, size: 'xsmall' }),
  'clock-time': () => fc.constantFrom('00:00', '09:30', '23:59'),
  'tool-rule': () =>
    fc.constantFrom('growth_create_batch', 'fetch_url:example.com', 'fetch_url:[::1]:99'),
  'tool-name': () => fc.constantFrom('growth_create_batch', 'use_tools', 'a1'),
  name: () => fc.constantFrom('Dockside', 'Ann O’Hara', '漢字', '👩‍🚀 crew', '-1', '@at'),
  'file-name': () =>
    fc.constantFrom('returns.md', 'Ann O’Hara.txt', '漢字', '👩‍🚀', '-1', '@at', '...'),
  email: () => fc.constantFrom('ada@example.com', 'o+x@example.org'),
}

/** Any text that can be stored: well formed, without NUL. */
const anyText = ({ minLength = 0, maxLength = LONGEST }: TSchema): Arbitrary<string> => {
  const unit = fc.oneof(
    { weight: 3, arbitrary: fc.string({ unit: 'grapheme', minLength: 1, maxLength: 4 }) },
    { weight: 2, arbitrary: fc.constantFrom(...AWKWARD) },
  )
  return fc
    .array(unit, { maxLength: 6 })
    .map((parts) =>
      parts
        .join('')
        .replaceAll('\0', '')
        .padEnd(minLength, '-')
        .slice(0, Math.min(maxLength, LONGEST))
        .toWellFormed(),
    )
}

const text = (schema: TSchema): Arbitrary<string> => {
  if (!schema.format) return anyText(schema)
  const make = formats[schema.format as string]
  if (!make)
    throw new Error(
      `test/support/contract/arbitrary.ts knows no text of the format ${String(schema.format)}`,
    )
  return make()
}

/** Values that survive a round trip through JSON. */
const json = (): Arbitrary<unknown> =>
  fc.json({ maxDepth: 2 }).map((one) => JSON.parse(one) as unknown)

const object = (schema: TSchema): Arbitrary<unknown> => {
  const properties = Object.entries((schema.properties ?? {}) as Record<string, TSchema>)
  if (properties.length === 0)
    return fc.dictionary(
      fc.string({ minLength: 1, maxLength: 8 }).filter((name) => name !== '__proto__'),
      json(),
      { maxKeys: 3 },
    )
  const model = Object.fromEntries(properties.map(([name, child]) => [name, arbitraryOf(child)]))
  return fc.record(model, {
    requiredKeys: (schema.required ?? []) as string[],
    noNullPrototype: true,
  })
}

const integer = ({ minimum = -1_000_000, maximum = 1_000_000 }: TSchema) =>
  fc.integer({ min: minimum, max: Math.max(minimum, maximum) })

const options = (schema: TSchema): TSchema[] => (schema.anyOf ?? schema.oneOf ?? []) as TSchema[]

const arbitraryOf = (schema: TSchema): Arbitrary<unknown> => {
  if (options(schema).length > 0) return fc.oneof(...options(schema).map(arbitraryOf))
  if (schema.enum) return fc.constantFrom(...(schema.enum as unknown[]))
  if ('const' in schema) return fc.constant(schema.const)
  if (schema.type === 'string') return text(schema)
  if (schema.type === 'integer') return integer(schema)
  if (schema.type === 'number')
    return fc
      .double({ noNaN: true, noDefaultInfinity: true, min: schema.minimum, max: schema.maximum })
      .filter((n) => !Object.is(n, -0))
  if (schema.type === 'boolean') return fc.boolean()
  if (schema.type === 'null') return fc.constant(null)
  if (schema.type === 'array')
    return fc.array(arbitraryOf(schema.items as TSchema), {
      minLength: schema.minItems ?? 0,
      maxLength: Math.min(schema.maxItems ?? 4, 4),
    })
  if (schema.type === 'object') return object(schema)
  return json()
}

/** Any input that the operation's schema accepts. */
export const legalInputs = (o: NamedOp): Arbitrary<Record<string, unknown>> =>
  arbitraryOf(o.input).filter((input) => checkerOf(o.input).Check(input)) as Arbitrary<
    Record<string, unknown>
  >
