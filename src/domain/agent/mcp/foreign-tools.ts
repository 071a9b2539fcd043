/**
 * Tools of external servers, as they are offered to the agent. A model reads what a server says
 * about them, and that text could come from anybody. Pure.
 */
import { createHash } from 'node:crypto'
import { isDeeper, isObject } from '#kernel/json-value'
import { storable } from '#kernel/storable'
import { definitionHash } from '../hash.ts'
import { parametersOf } from './foreign-schema.ts'
import { cleanText } from './foreign-text.ts'

export interface ForeignTool {
  /** The name that the server knows. */
  name: string
  /** The name that the model knows. */
  offered: string
  title: string
  description: string
  /**
   * JSON Schema of the arguments. It allows everything that the server's own schema allows, and
   * perhaps more.
   */
  parameters: Record<string, unknown>
  /** Hash of name, description and schema as the server wrote them. */
  hash: string
  /** The server says that the tool only reads. This is shown to people and decides nothing. */
  readOnly: boolean
}

/** A tool that cannot be offered. `name` is null if it has none. */
export interface OmittedTool {
  name: string | null
  reason: string
}

export interface ForeignOffer {
  tools: ForeignTool[]
  leftOut: OmittedTool[]
}

/** No operation's name contains it. */
const SEPARATOR = '__'
export const foreignToolLimits = {
  /** Model providers accept no longer names. */
  offeredLength: 64,
  prefixLength: 32,
  nameLength: 128,
  titleLength: 80,
  descriptionLength: 4_000,
} as const
const HASH_DIGITS = 8
/** How deep a schema may be as it was sent; fewer levels are kept. */
const DEEPEST = 100

const PLAIN = /^[a-zA-Z0-9_-]+$/

/** Makes a prefix from a server's name, in the form that people may choose. */
export const prefixOf = (name: string): string => {
  const slug = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '_')
    .replace(/^[^a-z]+/, '')
    .slice(0, foreignToolLimits.prefixLength)
    .replace(/_+$/, '')
  return slug === '' ? 'server' : slug
}

/** Whether a tool of one server could get the same name as a tool of the other. */
export const prefixesCollide = (one: string, other: string): boolean => {
  const [first, second] = [one + SEPARATOR, other + SEPARATOR]
  return first.startsWith(second) || second.startsWith(first)
}

/**
 * A name that models accept. A name that had to be changed ends with a part of its hash, so a tool
 * keeps its name whatever other tools its server has.
 */
export const offeredName = (prefix: string, name: string): string => {
  const whole = `${prefix}${SEPARATOR}${name}`
  if (PLAIN.test(name) && whole.length <= foreignToolLimits.offeredLength) return whole
  const mark = `_${createHash('sha256').update(name).digest('hex').slice(0, HASH_DIGITS)}`
  return `${whole.replace(/[^a-zA-Z0-9_-]+/g, '_').slice(0, foreignToolLimits.offeredLength - mark.length)}${mark}`
}

const nameOf = (tool: Record<string, unknown>): string | null =>
  typeof tool.name === 'string' && tool.name !== '' ? tool.name : null

const titleOf = (tool: Record<string, unknown>, description: string, name: string): string => {
  const { title } = isObject(tool.annotations) ? tool.annotations : {}
  const said = [tool.title, title, description.split(/(?<=[.!?])\s|\n/, 1)[0], name].find(
    (text) => typeof text === 'string' && text.trim() !== '',
  )
  return cleanText(String(said), foreignToolLimits.titleLength).replaceAll('\n', ' ')
}

const isOffered = (tool: ForeignTool | OmittedTool): tool is ForeignTool => 'offered' in tool

const leave = (name: string | null, reason: string): OmittedTool => ({
  name: name === null ? null : cleanText(name, foreignToolLimits.nameLength),
  reason,
})

const toolOf = (prefix: string, listed: unknown): ForeignTool | OmittedTool => {
  if (!isObject(listed)) return leave(null, 'it is no object')
  const name = nameOf(listed)
  if (name === null) return leave(null, 'it has no name')
  if (name.length > foreignToolLimits.nameLength)
    return leave(name, `its name has more than ${foreignToolLimits.nameLength} characters`)
  if (storable(name) !== name) return leave(name, 'its name has characters that are no text')
  const said = listed.description ?? ''
  if (typeof said !== 'string') return leave(name, 'its description is no text')
  if (isDeeper(listed.inputSchema, DEEPEST))
    return leave(name, `its schema has more than ${DEEPEST} levels`)
  const mapped = parametersOf(listed.inputSchema)
  if ('unusable' in mapped) return leave(name, mapped.unusable)
  const description = cleanText(said, foreignToolLimits.descriptionLength)
  return {
    name,
    offered: offeredName(prefix, name),
    title: titleOf(listed, description, name),
    description,
    parameters: mapped.parameters,
    hash: definitionHash({ name, description: said, parameters: listed.inputSchema }),
    readOnly: isObject(listed.annotations) && listed.annotations.readOnlyHint === true,
  }
}

/**
 * `listed`: the server's unchecked answer. If several tools share a name, none of them is offered,
 * because nobody can tell which one would be called.
 */
export const foreignTools = (prefix: string, listed: readonly unknown[]): ForeignOffer => {
  const all = listed.map((tool) => toolOf(prefix, tool))
  const usable = all.filter(isOffered)
  const times = new Map<string, number>()
  for (const { offered } of usable) times.set(offered, (times.get(offered) ?? 0) + 1)
  const twice = usable.filter(({ offered }) => times.get(offered) !== 1)
  return {
    tools: usable.filter((tool) => !twice.includes(tool)),
    leftOut: [
      ...all.flatMap((tool) => (isOffered(tool) ? [] : [tool])),
      ...[...new Set(twice.map(({ name }) => name))].map((name) =>
        leave(name, 'the server has several tools of this name'),
      ),
    ],
  }
}
