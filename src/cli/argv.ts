/**
 * Converts arguments to an operation's input, and back. Every valid input can be written as
 * arguments.
 */
import { type NamedOp, pathParams } from '#contract/op'
import { misuse } from './failure.ts'
import { choicesOf, type FlagField, fieldsOf, noneOf, requiredOf } from './fields.ts'
import { kebab } from './names.ts'
import { optionKey, syntaxOf } from './syntax.ts'

/** Reads `-` (standard input) or a file. */
export type ReadSource = (source: string) => Promise<string>

type Input = Record<string, unknown>

const isObject = (value: unknown): value is Input =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const parseJson = (text: string, flag: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return misuse(
      `--${flag} is not valid JSON: ${text.length > 60 ? `${text.slice(0, 60)}…` : text}`,
    )
  }
}

const inRange = (value: number, { minimum, maximum }: FlagField['schema']): boolean =>
  (minimum === undefined || value >= minimum) && (maximum === undefined || value <= maximum)

const range = ({ minimum, maximum }: FlagField['schema']): string => {
  if (minimum !== undefined && maximum !== undefined) return ` from ${minimum} to ${maximum}`
  if (minimum !== undefined) return ` of at least ${minimum}`
  return maximum === undefined ? '' : ` of at most ${maximum}`
}

const NUMBER = { integer: /^[+-]?\d{1,15}$/, number: /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i }

const numberOf = (
  text: string,
  { flag, kind, schema }: FlagField & { kind: 'integer' | 'number' },
): number => {
  const value = Number(text)
  if (NUMBER[kind].test(text) && Number.isFinite(value) && inRange(value, schema)) return value
  return misuse(
    `--${flag} must be ${kind === 'integer' ? 'a whole number' : 'a number'}${range(schema)}, not ${text || 'empty'}`,
  )
}

const choice = (text: string, { flag, schema }: FlagField): string => {
  const words = choicesOf(schema) ?? []
  return words.includes(text)
    ? text
    : misuse(`--${flag} must be one of ${words.join(', ')}, not ${text || 'empty'}`)
}

/** Reads `-` and `@file`. `@@…` is a text that begins with one `@`. */
export const argumentText = async (
  text: string,
  { flag, readable }: Pick<FlagField, 'flag' | 'readable'>,
  read: ReadSource,
): Promise<string> => {
  if (!readable || !/^[-@]/.test(text)) return text
  if (text === '-' || text === '@-') return read('-')
  if (text.startsWith('@@')) return text.slice(1)
  if (text.startsWith('-')) return text
  return read(text.slice(1)).catch((cause: unknown) =>
    misuse(
      `--${flag}: cannot read ${text.slice(1)}: ${cause instanceof Error ? cause.message : String(cause)}`,
      'write @@ for text that starts with @',
    ),
  )
}

const valueFrom = async (text: string, field: FlagField, read: ReadSource): Promise<unknown> => {
  const { kind } = field
  if (kind === 'integer' || kind === 'number') return numberOf(text, { ...field, kind })
  if (kind === 'choice') return choice(text, field)
  if (kind === 'boolean')
    return text === 'true' || (text !== 'false' && misuse(`--${field.flag} must be true or false`))
  const whole = await argumentText(text, field, read)
  return kind === 'json' ? parseJson(whole, field.flag) : whole
}

const optionValue = async (
  value: unknown,
  field: FlagField,
  read: ReadSource,
): Promise<unknown> => {
  if (value === false) return noneOf(field)?.value
  if (value === true) return true
  if (!Array.isArray(value)) return valueFrom(String(value), field, read)
  const values: unknown[] = []
  for (const text of value) {
    const one = await valueFrom(String(text), field, read)
    // A file may contain one entry or a list of them.
    if (field.kind === 'json' && Array.isArray(one)) values.push(...one)
    else values.push(one)
  }
  return values
}

const put = (input: Input, [name = '', ...rest]: readonly string[], value: unknown): void => {
  if (rest.length === 0) {
    input[name] = value
    return
  }
  if (!isObject(input[name])) input[name] = {}
  put(input[name] as Input, rest, value)
}

const bodyOf = async (o: NamedOp, data: unknown, read: ReadSource): Promise<Input> => {
  if (typeof data !== 'string') return {}
  const body = parseJson(await argumentText(data, { flag: 'data', readable: true }, read), 'data')
  if (!isObject(body)) return misuse('--data must be a JSON object')
  if (o.body !== undefined) return { [o.body]: body }
  const twice = pathParams(o.path).find((name) => Object.hasOwn(body, name))
  return twice === undefined
    ? body
    : misuse(`--data cannot include ${twice}: pass it as the argument <${kebab(twice)}>`)
}

const missing = (o: NamedOp, input: Input): string | undefined => {
  const name = requiredOf(o).find((one) => !Object.hasOwn(input, one))
  if (name === undefined) return undefined
  const field = fieldsOf(o).find(({ path }) => path[0] === name)
  return `--${field?.flag ?? name} is missing`
}

/** Refuses a second `-`: standard input can be read only once. */
export const once = (read: ReadSource): ReadSource => {
  let isRead = false
  return (source) => {
    if (source === '-' && isRead) return misuse('only one option can read standard input')
    isRead ||= source === '-'
    return read(source)
  }
}

export interface ParsedArguments {
  args: readonly string[]
  options: Readonly<Record<string, unknown>>
}

/**
 * The input from parsed arguments. Options override single fields of `--data`, including nested
 * ones. Throws a `Failure` for misuse.
 */
export const inputFrom = async (
  o: NamedOp,
  { args, options }: ParsedArguments,
  readOnce: ReadSource,
): Promise<Input> => {
  const read = once(readOnce)
  const input = await bodyOf(o, options.data, read)
  for (const field of fieldsOf(o)) {
    const value = options[optionKey(field)]
    if (value !== undefined) put(input, field.path, await optionValue(value, field, read))
  }
  for (const [index, name] of pathParams(o.path).entries())
    input[name] = args[index] === '' ? misuse(`<${kebab(name)}> is empty`) : args[index]
  const absent = missing(o, input)
  return absent === undefined ? input : misuse(absent)
}

/** For arguments that do not come from this machine's user. */
export const nothingToRead: ReadSource = (source) => misuse(`${source} cannot be read here`)

/** Parses the words after a command. Prints nothing. Throws commander's errors. */
export const parsedArguments = (o: NamedOp, argv: readonly string[]): ParsedArguments => {
  const command = syntaxOf(o)
    .exitOverride()
    .configureOutput({ outputError: () => {}, writeOut: () => {} })
  command.parse([...argv], { from: 'user' })
  return { args: command.args, options: command.opts() }
}

/** The input from the words after the command. */
export const inputFromArguments = async (
  o: NamedOp,
  argv: readonly string[],
  read = nothingToRead,
): Promise<Input> => inputFrom(o, parsedArguments(o, argv), read)

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b)

const option = (flag: string, value: string): string[] =>
  value.startsWith('-') ? [`--${flag}=${value}`] : [`--${flag}`, value]

/** The option for one value; undefined if no option can express it. */
const optionWords = (value: unknown, { kind, flag, readable }: FlagField): string[] | undefined => {
  if (kind === 'json') return option(flag, JSON.stringify(value))
  if (kind !== 'text') return option(flag, String(value))
  if (typeof value !== 'string' || (readable && value === '-')) return undefined
  return option(flag, readable && value.startsWith('@') ? `@${value}` : value)
}

const wordsOf = (value: unknown, field: FlagField): string[] | undefined => {
  const none = noneOf(field)
  if (none && isSame(value, none.value)) return [`--no-${field.flag}`]
  if (value === null && field.kind !== 'json') return undefined
  if (field.kind === 'boolean' && !field.many) return [`--${field.flag}`]
  if (!field.many) return optionWords(value, field)
  if (!Array.isArray(value) || value.length === 0) return undefined
  const entries = value.map((entry) => optionWords(entry, field))
  return entries.some((words) => words === undefined)
    ? undefined
    : entries.flatMap((words) => words ?? [])
}

const valueAt = (input: unknown, path: readonly string[]): unknown =>
  path.reduce<unknown>(
    (value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined),
    input,
  )

/** The part of an input that is not covered by the taken fields. Undefined if nothing is left. */
const rest = (
  value: unknown,
  taken: ReadonlySet<string>,
  path: readonly string[] = [],
): unknown => {
  if (taken.has(path.join('.'))) return undefined
  if (!isObject(value) || !isSpread(taken, path)) return value
  const left = Object.entries(value).flatMap(([name, child]) => {
    const remainder = rest(child, taken, [...path, name])
    return remainder === undefined ? [] : [[name, remainder] as const]
  })
  return left.length > 0 || Object.keys(value).length === 0 ? Object.fromEntries(left) : undefined
}

/** Whether a field inside it has been taken. */
const isSpread = (taken: ReadonlySet<string>, path: readonly string[]): boolean =>
  path.length === 0 || [...taken].some((one) => one.startsWith(`${path.join('.')}.`))

/** The words after the command for an input: options where possible, `--data` for the rest. */
export const argvOf = (o: NamedOp, input: Input): string[] => {
  const inPath = pathParams(o.path)
  const taken = new Set(inPath)
  const words: string[] = []
  for (const field of fieldsOf(o)) {
    const value = valueAt(input, field.path)
    const own = value === undefined ? undefined : wordsOf(value, field)
    if (!own) continue
    words.push(...own)
    taken.add(field.path.join('.'))
  }
  const left = rest(input, taken)
  if (isObject(left) && Object.keys(left).length > 0) words.push('--data', JSON.stringify(left))
  const args = inPath.map((name) => String(input[name]))
  return args.some((arg) => arg.startsWith('-')) ? [...words, '--', ...args] : [...args, ...words]
}
