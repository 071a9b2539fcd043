/** Requests as bytes, so that the load generator only sends them. */
import type { Tenant } from './world.ts'

/** As long as what the load generator puts in place of `{n}`. */
const NUMBER = '0'.repeat(10)

export const requestOf = (line: string, headers: Record<string, string>, body = ''): string => {
  const length = String(Buffer.byteLength(body.replace('{n}', NUMBER)))
  const lines = Object.entries({
    host: 'localhost',
    ...headers,
    ...(body ? { 'content-length': length } : {}),
  })
  return `${line} HTTP/1.1\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`
}

const JSON_BODY = { 'content-type': 'application/json' }
/** The load generator replaces `{n}`, so each command has a key of its own. */
const KEYED = { 'idempotency-key': 'bench-{n}' }

export const get = (path: string, { id, key }: Tenant): string =>
  requestOf(`GET ${path}`, { authorization: `Bearer ${key}`, 'x-tenant': id })

export const put = (path: string, { id, key }: Tenant, body: unknown): string =>
  requestOf(
    `PUT ${path}`,
    { authorization: `Bearer ${key}`, 'x-tenant': id, ...JSON_BODY, ...KEYED },
    JSON.stringify(body),
  )

export const post = (path: string, { id, key }: Tenant, body?: unknown): string => {
  const text = body === undefined ? '' : JSON.stringify(body)
  const headers = {
    authorization: `Bearer ${key}`,
    'x-tenant': id,
    ...KEYED,
    ...(text ? JSON_BODY : { 'content-length': '0' }),
  }
  return requestOf(`POST ${path}`, headers, text)
}
