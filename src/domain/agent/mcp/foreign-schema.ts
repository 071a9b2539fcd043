/**
 * The schema of a foreign tool's arguments, in a form that models accept. A provider refuses a
 * whole request because of one schema that it dislikes, so everything that some provider refuses is
 * dropped, and references are expanded. Dropping only loses constraints, and the server checks its
 * arguments itself.
 */
import { isObject } from '#kernel/json-value'
import { cleanText } from './foreign-text.ts'

type Schema = Record<string, unknown>

/** Levels of nested schemas. */
const DEEPEST = 10
const schemaLimits = {
  /** Subschemas of one schema, after references are expanded. */
  parts: 500,
  values: 100,
  choices: 20,
  /** In characters, as JSON. */
  length: 16_000,
  descriptionLength: 1_000,
  valueLength: 200,
} as const

/** Providers refuse other property names. */
const PROPERTY = /^[a-zA-Z0-9_.-]{1,64}$/
const FORMAT = /^[a-z0-9-]{1,32}$/
const TYPES: ReadonlySet<unknown> = new Set([
  'string',
  'number',
  'integer',
  'boolean',
  'object',
  'array',
  'null',
])
const NUMBERS = [
  ...[
    'minimum',
    'maximum',
    'exclusiveMinimum',
    'exclusiveMaximum',
    'multipleOf',
    'minLength',
    'maxLength',
    'minItems',
    'maxItems',
  ],
] as const
const CHOICES = ['anyOf', 'oneOf', 'allOf'] as const

class Unusable extends Error {}

const refuse = (reason: string): never => {
  throw new Unusable(reason)
}

/** Fields that have a value. */
const present = (fields: Schema): Schema =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined))

const isValue = (value: unknown): boolean =>
  value === null ||
  typeof value === 'number' ||
  typeof value === 'boolean' ||
  (typeof value === 'string' && cleanText(value, schemaLimits.valueLength) === value.trim())

const valuesOf = (values: unknown): unknown[] | undefined =>
  Array.isArray(values) &&
  values.length > 0 &&
  values.length <= schemaLimits.values &&
  values.every(isValue)
    ? values
    : undefined

const typeOf = (type: unknown): unknown => {
  if (TYPES.has(type)) return type
  if (!Array.isArray(type)) return undefined
  const types = [...new Set(type)].filter((one) => TYPES.has(one))
  return types.length > 0 ? types : undefined
}

/** The keywords that describe a value without nested schemas. */
const plainOf = (schema: Schema): Schema => {
  const numbers = NUMBERS.map((name) => [
    name,
    typeof schema[name] === 'number' ? schema[name] : undefined,
  ])
  const { description, title, format } = schema
  const words =
    typeof description === 'string' ? description : typeof title === 'string' ? title : ''
  // Each provider knows different formats, so the format is named in the description.
  const form = typeof format === 'string' && FORMAT.test(format) ? ` (${format})` : ''
  return present({
    type: typeOf(schema.type),
    description: (cleanText(words, schemaLimits.descriptionLength) + form).trim() || undefined,
    enum:
      valuesOf(schema.enum) ?? valuesOf(schema.const === undefined ? undefined : [schema.const]),
    default: isValue(schema.default) ? schema.default : undefined,
    ...Object.fromEntries(numbers),
  })
}

class Mapping {
  #parts = 0
  /** References that are being expanded. */
  readonly #open: string[] = []

  constructor(private readonly root: Schema) {}

  /** The schema that a reference within the same document points to. */
  #named(reference: string): unknown {
    if (!reference.startsWith('#')) refuse('its schema refers to another document')
    const steps = reference.slice(1).split('/').slice(1)
    let at: unknown = this.root
    for (const step of steps) {
      const key = step.replaceAll('~1', '/').replaceAll('~0', '~')
      const inside =
        Array.isArray(at) || isObject(at)
          ? Object.getOwnPropertyDescriptor(at, key)?.value
          : undefined
      at = inside ?? refuse('its schema refers to a part that it does not have')
    }
    return at
  }

  #written(schema: Schema, reference: string, depth: number): Schema {
    // A recursive schema has no end, so the inner occurrence allows anything.
    if (this.#open.includes(reference)) return {}
    this.#open.push(reference)
    const target = this.part(this.#named(reference), depth + 1)
    this.#open.pop()
    return { ...target, ...plainOf({ description: schema.description, default: schema.default }) }
  }

  part(schema: unknown, depth: number): Schema {
    if (++this.#parts > schemaLimits.parts)
      refuse(`its schema has more than ${schemaLimits.parts} parts`)
    if (depth > DEEPEST) refuse(`its schema has more than ${DEEPEST} levels`)
    if (!isObject(schema)) return {}
    if (typeof schema.$ref === 'string') return this.#written(schema, schema.$ref, depth)
    const plain = plainOf(schema)
    return {
      ...plain,
      ...this.#choices(schema, depth),
      ...this.#items(schema, plain.type, depth),
      ...this.object(schema, plain.type, depth),
    }
  }

  #choices(schema: Schema, depth: number): Schema {
    const kept = CHOICES.map((name) => {
      const choices = schema[name]
      const isKept =
        Array.isArray(choices) && choices.length > 0 && choices.length <= schemaLimits.choices
      return [name, isKept ? choices.map((choice) => this.part(choice, depth + 1)) : undefined]
    })
    return present(Object.fromEntries(kept))
  }

  /** Providers require a schema for the items of each list. */
  #items({ items }: Schema, type: unknown, depth: number): Schema {
    return type === 'array' || (Array.isArray(type) && type.includes('array'))
      ? { items: this.part(items, depth + 1) }
      : {}
  }

  object(
    { properties, required, additionalProperties }: Schema,
    type: unknown,
    depth: number,
  ): Schema {
    if (type !== 'object' && !isObject(properties)) return {}
    const all = isObject(properties) ? Object.entries(properties) : []
    const needed = Array.isArray(required)
      ? [...new Set(required)].filter((name) => typeof name === 'string')
      : []
    if (!needed.every((name) => PROPERTY.test(name)))
      refuse('it requires an argument whose name no model takes')
    const kept = all
      .filter(([name]) => PROPERTY.test(name))
      .map(([name, schema]) => [name, this.part(schema, depth + 1)])
    return present({
      properties: Object.fromEntries(kept),
      required: needed.length > 0 ? needed : undefined,
      additionalProperties: additionalProperties === false ? false : undefined,
    })
  }

  /** The top level, where providers allow no alternatives. */
  whole(): Schema {
    let schema = this.root
    for (let hops = 0; typeof schema.$ref === 'string'; hops++) {
      const target = this.#named(schema.$ref)
      schema = isObject(target) && hops < DEEPEST ? target : refuse('its schema refers to nothing')
    }
    if (schema.type !== undefined && schema.type !== 'object') refuse('its arguments are no object')
    return { type: 'object', ...this.object(schema, 'object', 0) }
  }
}

/** The schema to give to a model, or why there is none. */
export const parametersOf = (schema: unknown): { parameters: Schema } | { unusable: string } => {
  if (!isObject(schema)) return { unusable: 'it has no schema' }
  try {
    const parameters = new Mapping(schema).whole()
    const isLong = JSON.stringify(parameters).length > schemaLimits.length
    return isLong
      ? { unusable: `its schema has more than ${schemaLimits.length} characters` }
      : { parameters }
  } catch (cause) {
    if (cause instanceof Unusable) return { unusable: cause.message }
    throw cause
  }
}
