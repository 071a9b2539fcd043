/**
 * The bodies of posts, before anything of them is believed. Nothing here throws, whatever the bytes
 * are.
 */
import { isObject } from '#kernel/json-value'
import type { InboundPost } from './channel.ts'
import { type PostedFile, parseMultipart } from './multipart.ts'

export interface PostedForm {
  /** In the order in which they came; a name may come again. */
  fields: readonly (readonly [name: string, value: string])[]
  files: readonly PostedFile[]
}

/** More than any provider sends, and few enough to sort and to sign again. */
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

/** A post is asked for its route, its signature and its messages, and read once for all of them. */
const once = <V>(read: (post: InboundPost) => V): ((post: InboundPost) => V) => {
  const known = new WeakMap<InboundPost, { value: V }>()
  return (post) => {
    const found = known.get(post) ?? { value: read(post) }
    known.set(post, found)
    return found.value
  }
}

/** Its fields, if it is a form. */
export const postedForm = once(formOf)
/** Its object, if it is JSON. */
export const postedJson = once(jsonOf)

/** The first field of this name, or an empty text. */
export const formField = ({ fields }: PostedForm, name: string): string =>
  fields.find(([given]) => given === name)?.[1] ?? ''
