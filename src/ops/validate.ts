/** The gates for what comes in and what goes out: compiled schemas, and errors that name the field. */
import type { TObject, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import type { NamedOp } from '#contract/op'
import { AppError, type ErrorDetail } from '#kernel/errors'

const MOST_DETAILS = 20
const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>()

export const checkerOf = (schema: TSchema): TypeCheck<TSchema> => {
  const known = compiled.get(schema)
  if (known) return known
  const checker = TypeCompiler.Compile(schema)
  compiled.set(schema, checker)
  return checker
}

/** Text that Postgres cannot store or JSON cannot carry back: NUL bytes, and halves of surrogate pairs. */
const unstorable = (value: unknown, path: string): ErrorDetail | undefined => {
  if (typeof value === 'string') {
    if (value.includes('\0')) return { path, message: 'contains a NUL character' }
    return value.isWellFormed() ? undefined : { path, message: 'contains half of a surrogate pair' }
  }
  if (typeof value !== 'object' || value === null) return undefined
  for (const [key, child] of Object.entries(value)) {
    const below = path ? `${path}.${key}` : key
    const found = unstorable(key, below) ?? unstorable(child, below)
    if (found) return found
  }
  return undefined
}

/** Edits between two words, insertions, deletions and replacements counted alike. */
const distance = (a: string, b: string): number => {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) next[j] = Math.min(next[j - 1]! + 1, row[j]! + 1, row[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1))
    row = next
  }
  return row[b.length]!
}

const LONGEST_NAME = 64

const nearest = (name: string, known: string[]): string | undefined => {
  const word = name.slice(0, LONGEST_NAME)
  const ranked = known.map((field) => ({ field, away: distance(word.toLowerCase(), field.toLowerCase()) })).sort((a, b) => a.away - b.away)
  const best = ranked[0]
  return best && best.away <= Math.max(2, word.length / 2) ? best.field : undefined
}

const pointerToPath = (pointer: string): string =>
  pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')

const schemaAt = (schema: TSchema, parts: string[]): TSchema =>
  parts.reduce<TSchema>((at, part) => ((at as TObject).properties?.[part] ?? at.items ?? at) as TSchema, schema)

const describe = (schema: TSchema, error: ValueError): ErrorDetail => {
  const path = pointerToPath(error.path)
  if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    const parts = path.split('.')
    const parent = schemaAt(schema, parts.slice(0, -1)) as TObject
    const near = nearest(parts.at(-1)!, Object.keys(parent.properties ?? {}))
    return { path, message: `is not a known field${near ? `; did you mean ${near}?` : ''}` }
  }
  if (error.type === ValueErrorType.ObjectRequiredProperty) return { path, message: 'is required' }
  if (error.schema.enum) return { path, message: `must be one of ${(error.schema.enum as string[]).join(', ')}` }
  return { path, message: lowerFirst(error.message) }
}

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** Throws `invalid_input` naming each wrong field, the nearest known field for an unknown one included. */
export const validate = (schema: TSchema, input: unknown): void => {
  const bad = unstorable(input, '')
  if (bad) throw new AppError('invalid_input', `${bad.path} ${bad.message}`, { details: [bad] })
  const checker = checkerOf(schema)
  if (checker.Check(input)) return
  const details = new Map<string, ErrorDetail>()
  for (const error of checker.Errors(input)) {
    const detail = describe(schema, error)
    if (!details.has(detail.path)) details.set(detail.path, detail)
    if (details.size >= MOST_DETAILS) break
  }
  const [first] = details.values()
  throw new AppError('invalid_input', `${first?.path || 'the body'} ${first?.message ?? 'is not valid'}`, {
    details: [...details.values()],
  })
}

/** The body of an answer, if it is what the contract promises. */
export const serialise = (o: NamedOp, reply: unknown): string => {
  const checker = checkerOf(o.output)
  if (checker.Check(reply)) return JSON.stringify(reply)
  const wrong = checker.Errors(reply).First()
  throw new Error(`${o.id} answered against its contract: ${wrong?.path} ${wrong?.message}`)
}
