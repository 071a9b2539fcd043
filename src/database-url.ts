import { AppError } from '#kernel/errors'
import type { ConnectionOptions } from '#store/db'

/** `postgres://user:password@host:port/database?host=/socket/folder&sslmode=require` as connection options. */
export const optionsOf = (text: string): ConnectionOptions => {
  const invalid = (cause?: unknown) =>
    new AppError('invalid_input', 'DATABASE_URL must be like postgres://user:password@host:5432/database', { cause })
  let url: URL
  try {
    // An empty host is legal when the socket folder is given as a parameter, but not in a URL.
    url = new URL(text.replace(/^(postgres(?:ql)?:\/\/[^/@]*@?)(?=\/)/, '$1localhost'))
  } catch (cause) {
    throw invalid(cause)
  }
  if (!/^postgres(ql)?:$/.test(url.protocol) || url.pathname.length < 2) throw invalid()
  const ssl = url.searchParams.get('sslmode')
  return {
    host: url.searchParams.get('host') ?? url.hostname,
    port: Number(url.searchParams.get('port') ?? (url.port || 5432)),
    database: decodeURIComponent(url.pathname.slice(1)),
    username: decodeURIComponent(url.username) || undefined,
    password: decodeURIComponent(url.password) || undefined,
    ...(ssl && ssl !== 'disable' ? { ssl: sslOf(ssl) } : {}),
  }
}

/** As libpq: `require` encrypts without looking at the certificate, `verify-*` checks it. */
const sslOf = (mode: string): ConnectionOptions['ssl'] =>
  mode.startsWith('verify') ? 'verify-full' : mode === 'require' ? 'require' : 'prefer'
