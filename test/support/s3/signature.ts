/** Checks the signature of a request to S3 strictly, as Amazon documents version 4. */
import { createHash, createHmac } from 'node:crypto'
import type { IncomingHttpHeaders } from 'node:http'

export interface Signed {
  method: string
  /** Path and query, as sent. */
  url: string
  headers: IncomingHttpHeaders
  body: Buffer
}

export interface Keys {
  accessKeyId: string
  secretAccessKey: string
  region: string
}

/** What is wrong, by its code in S3. */
export interface Refusal {
  status: number
  code: string
}

const sha256 = (data: string | Buffer): string => createHash('sha256').update(data).digest('hex')
const hmac = (key: string | Buffer, data: string): Buffer =>
  createHmac('sha256', key).update(data).digest()

const AUTHORIZATION =
  /^AWS4-HMAC-SHA256 Credential=(?<id>[^/]+)\/(?<day>\d{8})\/(?<region>[^/]+)\/s3\/aws4_request, SignedHeaders=(?<names>[a-z0-9;-]+), Signature=(?<signature>[0-9a-f]{64})$/
const TIME = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z$/
const MOST_SKEW_MS = 900_000

/** Everything but these is percent-encoded. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )

const queryOf = (query: string): string =>
  [...new URLSearchParams(query)]
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .sort()
    .join('&')

/** Headers with these names change what a request means, so they must be signed. */
const mustBeSigned = (name: string): boolean =>
  name === 'host' || name === 'range' || name === 'content-md5' || name.startsWith('x-amz-')

const skewOf = (time: string): number => {
  const [, ...parts] = TIME.exec(time) ?? []
  const [year = 0, month = 0, ...rest] = parts.map(Number)
  return Math.abs(
    Date.now() - Date.UTC(year, month - 1, ...(rest as [number, number, number, number])),
  )
}

const signatureOf = (
  { method, url, headers, body }: Signed,
  { secretAccessKey, region }: Keys,
  names: string,
): string => {
  const [path = '', query = ''] = url.split('?', 2)
  const signedHeaders = names
    .split(';')
    .map((name) => `${name}:${String(headers[name] ?? '').trim()}\n`)
    .join('')
  const time = String(headers['x-amz-date'])
  const scope = `${time.slice(0, 8)}/${region}/s3/aws4_request`
  const canonical = [method, path, queryOf(query), signedHeaders, names, sha256(body)].join('\n')
  const text = ['AWS4-HMAC-SHA256', time, scope, sha256(canonical)].join('\n')
  const key = scope
    .split('/')
    .reduce<string | Buffer>((made, part) => hmac(made, part), `AWS4${secretAccessKey}`)
  return hmac(key, text).toString('hex')
}

/** Undefined if the request comes from the holder of these keys and arrived as it was sent. */
export const refusalOf = (request: Signed, keys: Keys): Refusal | undefined => {
  const { headers, body } = request
  const {
    id,
    day,
    region,
    names = '',
    signature,
  } = AUTHORIZATION.exec(headers.authorization ?? '')?.groups ?? {}
  if (signature === undefined) return { status: 403, code: 'AccessDenied' }
  if (id !== keys.accessKeyId) return { status: 403, code: 'InvalidAccessKeyId' }
  if (region !== keys.region) return { status: 400, code: 'AuthorizationHeaderMalformed' }
  const time = String(headers['x-amz-date'])
  if (skewOf(time) > MOST_SKEW_MS || day !== time.slice(0, 8))
    return { status: 403, code: 'RequestTimeTooSkewed' }
  const unsigned = Object.keys(headers).filter(
    (name) => mustBeSigned(name) && !names.split(';').includes(name),
  )
  if (unsigned.length > 0) return { status: 403, code: 'AccessDenied' }
  if (headers['x-amz-content-sha256'] !== sha256(body))
    return { status: 400, code: 'XAmzContentSHA256Mismatch' }
  if (Number(headers['content-length'] ?? 0) !== body.length)
    return { status: 400, code: 'IncompleteBody' }
  return signatureOf(request, keys, names) === signature
    ? undefined
    : { status: 403, code: 'SignatureDoesNotMatch' }
}
