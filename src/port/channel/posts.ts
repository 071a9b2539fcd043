/**
 * The bodies of posts, before anything in them is believed. Nothing here throws, whatever the bytes
 * are.
 */
import { isObject } from '#kernel/json-value'
import type { InboundPost } from './channel.ts'
import { type PostedFile, parseMultipart } from './multipart.ts'

export interface PostedForm {
  /** Fields in the order in which they came. A name may occur more than once. */
  fields: readonly (readonly [name: string, value: string])[]
  files: readonly PostedFile[]
}

/** More fields than any provider sends, and few enough to sort and sign again. */
const MOST_FIELDS = 1_000

const mediaType = (header: string | null): string =>
  (header ?? '').split(';', 1)[0]!.trim().toLowerCase()

const textOf = (body: Uint8Array): string => new TextDecoder().decode(body)

const countOf = (body: Uint8Array, byte: number): number => {
  let count = 0
  for (
    let at = body.indexOf(byte);
    at !== -1 && count <= MOST_FIELDS;
    at = body.indexOf(byte, at + 1)
  )
    count++
  return count
}

const parseUrlEncoded = (body: Uint8Array): PostedForm | undefined =>
  countOf(body, 0x26) >= MOST_FIELDS
    ? undefined
    : { fields: [...new URLSearchParams(textOf(body))], files: [] }

const formOf = ({ headers, body }: InboundPost): PostedForm | undefined => {
  const type = headers.get('content-type')
  switch (mediaType(type)) {
    case 'application/x-www-form-urlencoded':
      return parseUrlEncoded(body)
    case 'multipart/form-data':
      return parseMultipart(body, type ?? '', MOST_FIELDS)
    default:
      return undefined
  }
}

const jsonOf = ({ headers, body }: InboundPost): Record<string, unknown> | undefined => {
  if (mediaType(headers.get('content-type')) !== 'application/json') return undefined
  try {
    const value: unknown = JSON.parse(textOf(body))
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** Reads a post once. The result serves its route, its signature and its messages. */
const once = <V>(read: (post: InboundPost) => V): ((post: InboundPost) => V) => {
  const known = new WeakMap<InboundPost, { value: V }>()
  return (post) => {
    const found = known.get(post) ?? { value: read(post) }
    known.set(post, found)
    return found.value
  }
}

/** The fields of the post if it is a form. */
export const postedForm = once(formOf)
/** The object in the post if it is JSON. */
export const postedJson = once(jsonOf)

/** The first field with this name, or an empty text. */
export const formField = ({ fields }: PostedForm, name: string): string =>
  fields.find(([given]) => given === name)?.[1] ?? ''
