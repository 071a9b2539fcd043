/**
 * Bodies of `multipart/form-data` (RFC 7578), whose length the edge has limited. Parsing takes time
 * linear in the length.
 */

export interface PostedFile {
  field: string
  name: string
  mimeType: string
  bytes: Uint8Array
}

interface Part {
  field: string
  /** Null for a field that is not a file. */
  fileName: string | null
  mimeType: string
  bytes: Uint8Array
}

const LONGEST_BOUNDARY = 200
/** The limit for the head of one part. */
const LONGEST_HEAD = 4_096
const HEAD_END = '\r\n\r\n'

const boundaryOf = (contentType: string): string | undefined => {
  const [, quoted, bare] =
    /;\s*boundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(
      contentType.slice(0, 2 * LONGEST_BOUNDARY),
    ) ?? []
  return quoted ?? bare
}

/**
 * A parameter of `Content-Disposition`. Browsers and providers write a quotation mark inside it as
 * `%22` or `\"`.
 */
const parameterOf = (head: string, name: string): string | null => {
  const quoted = new RegExp(`;\\s*${name}="((?:[^"\\\\]|\\\\.)*)"`, 'i').exec(head)?.[1]
  if (quoted !== undefined) return quoted.replaceAll(/\\(.)/g, '$1').replaceAll('%22', '"')
  return new RegExp(`;\\s*${name}=([^\\s;"]+)`, 'i').exec(head)?.[1] ?? null
}

const partOf = (bytes: Buffer): Part | undefined => {
  const end = bytes.subarray(0, LONGEST_HEAD).indexOf(HEAD_END)
  if (end === -1) return undefined
  const head = bytes.subarray(0, end).toString()
  const disposition = /^content-disposition:\s*form-data(.*)$/im.exec(head)?.[1]
  const field = disposition === undefined ? null : parameterOf(disposition, 'name')
  if (disposition === undefined || field === null) return undefined
  const mimeType = /^content-type:\s*([^\s;]+)/im.exec(head)?.[1] ?? ''
  return {
    field,
    fileName: parameterOf(disposition, 'filename'),
    mimeType,
    bytes: bytes.subarray(end + HEAD_END.length),
  }
}

/** Undefined if the body is not multipart, or has more than `most` parts. */
export const parseMultipart = (
  body: Uint8Array,
  contentType: string,
  most: number,
): { fields: (readonly [string, string])[]; files: PostedFile[] } | undefined => {
  const boundary = boundaryOf(contentType)
  if (boundary === undefined) return undefined
  const whole = Buffer.from(body.buffer, body.byteOffset, body.byteLength)
  const fields: (readonly [string, string])[] = []
  const files: PostedFile[] = []
  const delimiter = `\r\n--${boundary}`
  const first = `--${boundary}`
  let at =
    whole.subarray(0, first.length).toString('latin1') === first
      ? first.length
      : (endOf(whole, delimiter, 0) ?? -1)
  while (at !== -1 && whole.subarray(at, at + 2).toString('latin1') !== '--') {
    const start = whole.indexOf('\r\n', at)
    const end = start === -1 ? -1 : whole.indexOf(delimiter, start)
    if (end === -1) return undefined
    const part = partOf(whole.subarray(start + 2, end))
    if (!part || fields.length + files.length >= most) return undefined
    if (part.fileName === null) fields.push([part.field, part.bytes.toString()])
    else
      files.push({
        field: part.field,
        name: part.fileName,
        mimeType: part.mimeType,
        bytes: part.bytes,
      })
    at = end + delimiter.length
  }
  return at === -1 ? undefined : { fields, files }
}

const endOf = (whole: Buffer, text: string, from: number): number | undefined => {
  const at = whole.indexOf(text, from)
  return at === -1 ? undefined : at + text.length
}
