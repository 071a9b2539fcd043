/**
 * What a foreign tool answered, as text for the model. Anything that is not text is only named.
 * Pure.
 */
import { isDeeper, isObject } from '#kernel/json-value'
import { beginning, storable } from '#kernel/storable'
import { cleanText } from './foreign-text.ts'

export interface ForeignAnswer {
  text: string
  /** Whether the server says that the tool failed. */
  isError: boolean
}

type Part = Record<string, unknown>

const resultLimits = {
  parts: 500,
  /** In characters. A step keeps less, and says that it was cut. */
  answerLength: 100_000,
  wordLength: 500,
} as const
const DEEPEST = 100

const word = (value: unknown): string =>
  typeof value === 'string' ? cleanText(value, resultLimits.wordLength).replaceAll('\n', ' ') : ''

/** The number of bytes that a base64 text encodes. */
const sizeOf = (base64: unknown): string =>
  `${typeof base64 === 'string' ? Math.floor((base64.length * 3) / 4) : 0} bytes`

const bracket = (...words: string[]): string => `[${words.filter((each) => each !== '').join(' ')}]`

const resourceText = ({ resource }: Part): string => {
  if (!isObject(resource)) return bracket('a resource, left out')
  const { uri, mimeType, text, blob } = resource
  if (typeof text === 'string') return `${bracket('resource', word(uri))}\n${text}`
  return bracket('resource', word(uri), word(mimeType), `of ${sizeOf(blob)}, left out`)
}

const partText = (part: unknown): string => {
  if (!isObject(part)) return bracket('a part that cannot be read, left out')
  switch (part.type) {
    case 'text':
      return typeof part.text === 'string' ? part.text : bracket('a text that is none, left out')
    case 'image':
    case 'audio':
      return bracket(part.type, word(part.mimeType), `of ${sizeOf(part.data)}, left out`)
    case 'resource_link':
      return bracket(
        'link',
        word(part.title) || word(part.name),
        word(part.uri),
        word(part.description),
      )
    case 'resource':
      return resourceText(part)
    default:
      return bracket('a part of the type', word(part.type) || 'unknown', 'left out')
  }
}

/**
 * Whether the text is this JSON, whatever its spacing. A text that is shorter, or longer than what
 * is kept, is not compared.
 */
const isSame = (text: string, json: string): boolean => {
  if (text.length < json.length || text.length > resultLimits.answerLength) return false
  try {
    return JSON.stringify(JSON.parse(text)) === json
  } catch {
    return false
  }
}

/** Undefined if this is not the result of a tool. */
export const answerOf = (result: unknown): ForeignAnswer | undefined => {
  if (!isObject(result) || isDeeper(result, DEEPEST)) return undefined
  const { content, structuredContent, isError } = result
  if (!Array.isArray(content) && structuredContent === undefined) return undefined
  const parts = (Array.isArray(content) ? content.slice(0, resultLimits.parts) : []).map(partText)
  const more = Array.isArray(content) ? content.length - parts.length : 0
  // The protocol asks servers to repeat the structured part as text.
  const json = structuredContent === undefined ? undefined : JSON.stringify(structuredContent)
  const isSaid = json === undefined || parts.some((text) => isSame(text, json))
  const all = [
    ...parts,
    ...(more > 0 ? [bracket(`${more} more parts, left out`)] : []),
    ...(isSaid ? [] : [json]),
  ]
  return {
    text: beginning(storable(all.join('\n\n')), resultLimits.answerLength),
    isError: isError === true,
  }
}
