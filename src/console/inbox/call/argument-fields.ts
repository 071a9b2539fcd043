/** The fields of a form, made from the JSON Schema of a tool's arguments. */

type Json = Record<string, unknown>

/** `lines`: a list of texts, one a line. `json`: anything else, as it is written in JSON. */
type FieldKind = 'text' | 'long text' | 'number' | 'whole number' | 'choice' | 'lines' | 'json'

export interface ArgumentField {
  name: string
  kind: FieldKind
  isNeeded: boolean
  /** What the tool says of it. */
  about?: string | undefined
  choices?: string[] | undefined
}

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** The schema without the possibility of null. */
const withoutNull = (schema: Json): Json => {
  const { type, anyOf } = schema
  if (Array.isArray(type)) {
    const types = type.filter((one) => one !== 'null')
    return { ...schema, type: types.length === 1 ? types[0] : types }
  }
  if (!Array.isArray(anyOf)) return schema
  const rest = anyOf.filter((one) => !(isObject(one) && one.type === 'null'))
  return rest.length === 1 && isObject(rest[0]) ? { ...schema, ...rest[0] } : schema
}

const choicesOf = ({ enum: values, anyOf, type }: Json): string[] | undefined => {
  if (type === 'boolean') return ['true', 'false']
  const all = Array.isArray(values)
    ? values
    : Array.isArray(anyOf)
      ? anyOf.map((one) => (isObject(one) ? one.const : undefined))
      : []
  return all.length > 0 && all.every((one) => typeof one === 'string') ? all : undefined
}

/** From how many characters on a text has more than one line. */
const LONG = 200

const kindOf = (schema: Json): FieldKind => {
  if (choicesOf(schema)) return 'choice'
  const { type, maxLength, items } = schema
  if (type === 'string') return Number(maxLength ?? 0) > LONG ? 'long text' : 'text'
  if (type === 'integer') return 'whole number'
  if (type === 'number') return 'number'
  if (type === 'array' && isObject(items) && items.type === 'string') return 'lines'
  return 'json'
}

/** Whether a field of this kind can hold the value. */
const holds = ({ kind, choices }: ArgumentField, value: unknown): boolean => {
  if (value === undefined) return true
  switch (kind) {
    case 'text':
      return typeof value === 'string' && !value.includes('\n')
    case 'long text':
      return typeof value === 'string'
    case 'number':
    case 'whole number':
      return typeof value === 'number'
    case 'choice':
      return choices!.includes(String(value))
    case 'lines':
      return (
        Array.isArray(value) &&
        value.every((one) => typeof one === 'string' && one !== '' && !/[\r\n]/.test(one))
      )
    case 'json':
      return true
  }
}

/** Those of the schema in its order, then those that the call has beyond it. */
export const argumentFields = (parameters: Json, given: Json): ArgumentField[] => {
  const properties = isObject(parameters.properties) ? parameters.properties : {}
  const needed = Array.isArray(parameters.required) ? parameters.required : []
  const known = Object.entries(properties).map(([name, value]): ArgumentField => {
    const schema = withoutNull(isObject(value) ? value : {})
    const field = {
      name,
      kind: kindOf(schema),
      isNeeded: needed.includes(name),
      about: typeof schema.description === 'string' ? schema.description : undefined,
      choices: choicesOf(schema),
    }
    if (holds(field, given[name])) return field
    return { ...field, kind: typeof given[name] === 'string' ? 'long text' : 'json' }
  })
  const beyond = Object.keys(given).filter((name) => !Object.hasOwn(properties, name))
  return [...known, ...beyond.map((name) => ({ name, kind: 'json' as const, isNeeded: false }))]
}

export const inJson = (value: unknown): string => JSON.stringify(value, null, 2)

/** A value as the field shows it; empty if there is none. */
export const typedArgument = ({ kind }: ArgumentField, value: unknown): string => {
  if (value === undefined) return ''
  if (kind === 'lines') return (value as string[]).join('\n')
  return kind === 'json' ? inJson(value) : String(value)
}

type Read = { value: unknown } | { flaw: string }

const numberIn = (typed: string, isWhole: boolean): Read => {
  const value = Number(typed)
  if (!Number.isFinite(value) || typed.trim() === '') return { flaw: 'must be a number' }
  return isWhole && !Number.isInteger(value) ? { flaw: 'must be a whole number' } : { value }
}

const jsonIn = (typed: string): Read => {
  try {
    return { value: JSON.parse(typed) as unknown }
  } catch {
    return { flaw: 'must be JSON' }
  }
}

const choiceIn = ({ choices }: ArgumentField, typed: string): Read => {
  const isSwitch = choices!.length === 2 && choices![0] === 'true'
  return { value: isSwitch ? typed === 'true' : typed }
}

const valueIn = (field: ArgumentField, typed: string): Read => {
  switch (field.kind) {
    case 'number':
    case 'whole number':
      return numberIn(typed, field.kind === 'whole number')
    case 'lines':
      return { value: typed.split('\n').filter((line) => line.trim() !== '') }
    case 'json':
      return jsonIn(typed)
    case 'choice':
      return choiceIn(field, typed)
    default:
      return { value: typed }
  }
}

export interface ReadArguments {
  arguments: Json
  /** By field: what is wrong with it. */
  flaws: Record<string, string>
}

/**
 * The arguments that the fields hold. An empty field leaves its argument out, unless the call has
 * an empty text there; what was not touched stays as it was.
 */
export const argumentsIn = (
  fields: readonly ArgumentField[],
  typed: Readonly<Record<string, string>>,
  given: Json,
): ReadArguments => {
  const read: ReadArguments = { arguments: {}, flaws: {} }
  for (const field of fields) {
    const { name, isNeeded } = field
    const text = typed[name]
    if (text === undefined || text === typedArgument(field, given[name])) {
      if (given[name] !== undefined) read.arguments[name] = given[name]
    } else if (text === '') {
      if (isNeeded) read.flaws[name] = 'is needed'
    } else {
      const found = valueIn(field, text)
      if ('flaw' in found) read.flaws[name] = found.flaw
      else read.arguments[name] = found.value
    }
  }
  return read
}

/** The arguments of a text in JSON. */
export const argumentsOfJson = (text: string): ReadArguments => {
  const read = jsonIn(text)
  return 'value' in read && isObject(read.value)
    ? { arguments: read.value, flaws: {} }
    : { arguments: {}, flaws: { '': 'The arguments must be a JSON object' } }
}

/** `post_at` in words: `Post at`. */
export const argumentLabel = (name: string): string => {
  const words = name
    .replace(/([a-z])([A-Z])/g, '$1 $2')
    .replaceAll('_', ' ')
    .trim()
  return words === '' ? name : words.charAt(0).toUpperCase() + words.slice(1).toLowerCase()
}
