/** Validation of inputs by compiled schemas. Errors name the field. */
import type { TObject, TSchema } from '@sinclair/typebox'
import { type TypeCheck, TypeCompiler } from '@sinclair/typebox/compiler'
import { type ValueError, ValueErrorType } from '@sinclair/typebox/errors'
import { EMAIL_LIMIT, NAME_LIMIT } from '#contract/formats'
import { NOT_BLANK, ONE_LINE, WORDS } from '#contract/shapes'
import { AppError, type ErrorDetail } from '#kernel/errors'
import { nearest } from '#kernel/nearest'
import { isLonger, strangeCharacter } from '#kernel/plain-text'
import { tagIn } from '#kernel/untrusted-tags'

const MAX_DETAILS = 20
const compiled = new WeakMap<TSchema, TypeCheck<TSchema>>()

export const checkerOf = (schema: TSchema): TypeCheck<TSchema> => {
  const known = compiled.get(schema)
  if (known) return known
  const checker = TypeCompiler.Compile(schema)
  compiled.set(schema, checker)
  return checker
}

/** Deeper than any of our inputs, and far from a stack overflow. */
const DEEPEST = 100

interface Flaw {
  path: string[]
  message: string
}

/**
 * Finds text that Postgres cannot store or JSON cannot represent: NUL characters and unpaired
 * surrogates.
 */
export const flawOfText = (text: string): Flaw | undefined => {
  if (text.includes('\0')) return { path: [], message: 'contains a NUL character' }
  return text.isWellFormed() ? undefined : { path: [], message: 'contains an unpaired surrogate' }
}

/**
 * A tag of ours shows that the text was copied out of an answer: as a text of the workspace it
 * would pass for a stranger's.
 */
const flawOfArgument = (text: string): Flaw | undefined => {
  const tag = tagIn(text)
  if (tag === undefined) return flawOfText(text)
  return {
    path: [],
    message: `contains a tag that answers put around words of strangers; leave it out: ${tag}`,
  }
}

/** The first part of a value, keys included, that cannot be taken. */
const flawIn = (
  value: unknown,
  flawOf: (text: string) => Flaw | undefined,
  depth = 0,
): Flaw | undefined => {
  if (typeof value === 'string') return flawOf(value)
  if (typeof value !== 'object' || value === null) return undefined
  if (depth > DEEPEST) return { path: [], message: `is nested deeper than ${DEEPEST} levels` }
  for (const key of Object.keys(value)) {
    const flaw = flawOf(key) ?? flawIn((value as Record<string, unknown>)[key], flawOf, depth + 1)
    if (flaw) return { ...flaw, path: [key, ...flaw.path] }
  }
  return undefined
}

const pointerToPath = (pointer: string): string =>
  pointer
    .slice(1)
    .split('/')
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .join('.')

const schemaAt = (schema: TSchema, parts: string[]): TSchema =>
  parts.reduce<TSchema>(
    (at, part) => ((at as TObject).properties?.[part] ?? at.items ?? at) as TSchema,
    schema,
  )

/** More names than this would bury the flaw. */
const MOST_NAMES = 30

/** The field that was probably meant, and all that there are. */
const knownFields = (name: string, known: string[]): string => {
  if (known.length === 0) return '; there are none'
  const near = nearest(name, known)
  const [first, more] = [known.slice(0, MOST_NAMES).join(', '), known.length - MOST_NAMES]
  const names = `${known.length === 1 ? 'The only field is' : 'The fields are'} ${first}${more > 0 ? ` and ${more} more` : ''}`
  return `${near ? `; did you mean ${near}?` : '.'} ${names}`
}

const describe = (schema: TSchema, error: ValueError): ErrorDetail => {
  const path = pointerToPath(error.path)
  if (error.type === ValueErrorType.ObjectAdditionalProperties) {
    const parts = path.split('.')
    const parent = schemaAt(schema, parts.slice(0, -1)) as TObject
    return {
      path,
      message: `is not a known field${knownFields(parts.at(-1)!, Object.keys(parent.properties ?? {}))}`,
    }
  }
  if (error.type === ValueErrorType.ObjectRequiredProperty) return { path, message: 'is required' }
  const words = error.schema[WORDS as never] as readonly string[] | undefined
  if (words)
    return {
      path,
      message: `must be one of ${words.join(', ')}, or several of them with commas between`,
    }
  const choices = error.schema.enum as string[] | undefined
  if (choices)
    return {
      path,
      message: `must be ${choices.length === 1 ? '' : 'one of '}${choices.join(', ')}`,
    }
  return { path, message: invisibleFlaw(error) ?? requirementOf(error) }
}

/**
 * Flaws of a name or email that its reader cannot see: a character, or the length after
 * normalisation.
 */
const invisibleFlaw = ({ type, schema: { format }, value }: ValueError): string | undefined => {
  if ((format !== 'name' && format !== 'email') || typeof value !== 'string') return undefined
  const strange = strangeCharacter(value)
  if (strange) return `contains ${strange}, an invisible character or one that reorders text`
  const most = format === 'name' ? NAME_LIMIT : EMAIL_LIMIT
  return type === ValueErrorType.StringFormat && isLonger(value, most)
    ? `must have at most ${most} characters after NFKC normalisation`
    : undefined
}

/** Formats in words. */
const FORMS: Record<string, string> = {
  uuid: 'a uuid',
  'date-time': 'an ISO 8601 timestamp, such as 2026-12-24T09:00:00+01:00',
  email: 'an email address',
  uri: 'an http or https URL',
  'clock-time': 'a time of day, such as 09:30',
  'tool-name': 'the name of a tool, such as growth_create_batch',
  'tool-rule': 'the name of a tool, or a host such as fetch_url:example.com',
  name: 'text with visible characters',
  'file-name': 'the name of a file: visible characters without / and \\, not . or ..',
  'time-zone': 'an IANA time zone, such as Europe/Berlin',
  language: 'a language tag, such as en or pt-BR',
}

const KINDS: Record<string, string> = {
  string: 'text',
  integer: 'a whole number',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  null: 'null',
}

/** The requirement, as the end of a sentence that begins with the field. */
const requirementOf = ({ type, schema, value, message }: ValueError): string => {
  const limits: Partial<Record<ValueErrorType, string>> = {
    [ValueErrorType.IntegerMinimum]: `must be at least ${schema.minimum}`,
    [ValueErrorType.IntegerMaximum]: `must be at most ${schema.maximum}`,
    [ValueErrorType.StringMinLength]: `must have at least ${characters(schema.minLength)}`,
    [ValueErrorType.StringMaxLength]: `must have at most ${characters(schema.maxLength)}`,
    [ValueErrorType.ArrayMinItems]: `must have at least ${schema.minItems} entries`,
    [ValueErrorType.ArrayMaxItems]: `must have at most ${schema.maxItems} entries`,
  }
  const what = FORMS[schema.format ?? ''] ?? formsOf(schema) ?? KINDS[schema.type ?? '']
  if (type === ValueErrorType.StringFormat && schema.format === 'time-zone')
    return `must be ${what}: there is no ${value}`
  if (type === ValueErrorType.StringPattern) return patternOf(schema) ?? lowerFirst(message)
  return limits[type] ?? (what ? `must be ${what}` : lowerFirst(message))
}

/** A pattern's meaning in words, or an example that matches it. */
const patternOf = ({ pattern, examples }: TSchema): string | undefined => {
  if (pattern === NOT_BLANK) return 'must not be blank'
  if (pattern === ONE_LINE) return 'must be one line, and not blank'
  const [example] = (examples ?? []) as unknown[]
  return example === undefined ? undefined : `must look like ${example}`
}

/** The alternatives of a union in words. */
const formsOf = ({ anyOf }: TSchema): string | undefined =>
  (anyOf as TSchema[] | undefined)
    ?.flatMap(
      ({ format, type, enum: words }) =>
        FORMS[format ?? ''] ?? (words as string[] | undefined) ?? KINDS[type ?? ''] ?? [],
    )
    .join(', or ')

const characters = (count: number): string => (count === 1 ? '1 character' : `${count} characters`)

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/**
 * Throws `invalid_input` with one detail per invalid field, at most `MAX_DETAILS`. Suggests a known
 * field for an unknown one.
 */
export const validate = (schema: TSchema, input: unknown): void =>
  validateBy(schema, input, flawOfArgument)

/** The same of what people outside have sent, who may write what they like. */
export const validateMessage = (schema: TSchema, input: unknown): void =>
  validateBy(schema, input, flawOfText)

/**
 * Throws `invalid_input` for an argument with a tag of ours; for arguments that no schema of ours
 * describes.
 */
export const refuseTags = (input: unknown): void => {
  const flaw = flawIn(input, flawOfArgument)
  if (flaw) refuse([{ path: flaw.path.join('.'), message: flaw.message }])
}

const validateBy = (
  schema: TSchema,
  input: unknown,
  flawOf: (text: string) => Flaw | undefined,
): void => {
  const flaw = flawIn(input, flawOf)
  if (flaw) refuse([{ path: flaw.path.join('.'), message: flaw.message }])
  const checker = checkerOf(schema)
  if (checker.Check(input)) return
  const details = new Map<string, ErrorDetail>()
  for (const error of checker.Errors(input)) {
    const detail = describe(schema, error)
    if (!details.has(detail.path)) details.set(detail.path, detail)
    if (details.size >= MAX_DETAILS) break
  }
  refuse([...details.values()])
}

const LONGEST_PATH = 200

/** Truncates paths: the caller chooses field names, and could send one of a megabyte. */
const refuse = (found: ErrorDetail[]): never => {
  const details = found.map(({ path, message }) => ({ path: path.slice(0, LONGEST_PATH), message }))
  const [first] = details
  throw new AppError(
    'invalid_input',
    `${first?.path || 'the body'} ${first?.message ?? 'is not valid'}`,
    { details },
  )
}
