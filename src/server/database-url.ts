import { AppError } from '#kernel/errors'
import type { ConnectionOptions } from '#store/engine/db'

const MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

/** No message contains the text itself, because it holds the password. */
const invalid = (cause?: unknown): never => {
  throw new AppError(
    'invalid_input',
    'DATABASE_URL must be like postgres://user:password@host:5432/database',
    { cause },
  )
}

const parse = (text: string): URL => {
  try {
    // An empty host is legal if a parameter gives the socket folder, but not in a URL.
    return new URL(text.replace(/^(postgres(?:ql)?:\/\/[^/@]*@?)(?=\/)/, '$1localhost'))
  } catch {
    return invalid()
  }
}

const decode = (text: string): string => {
  try {
    return decodeURIComponent(text)
  } catch {
    throw new AppError(
      'invalid_input',
      'DATABASE_URL has a % that starts no escape sequence: write it as %25',
    )
  }
}

const portOf = (text: string): number => {
  const port = Number(text)
  if (Number.isInteger(port) && port > 0 && port < 65_536) return port
  throw new AppError('invalid_input', `DATABASE_URL has no port number: ${text}`)
}

/**
 * `postgres://user:password@host:port/database?host=/socket/folder&sslmode=require` as connection
 * options.
 */
export const connectionOptionsOf = (text: string): ConnectionOptions => {
  const url = parse(text)
  if (!/^postgres(ql)?:$/.test(url.protocol) || url.pathname.length < 2) invalid()
  const ssl = url.searchParams.get('sslmode')
  return {
    host: url.searchParams.get('host') ?? url.hostname,
    port: portOf(url.searchParams.get('port') ?? (url.port || '5432')),
    database: decode(url.pathname.slice(1)),
    username: decode(url.username) || undefined,
    password: decode(url.password) || undefined,
    ...(ssl && ssl !== 'disable' ? { ssl: sslOf(ssl) } : {}),
  }
}

/** As in libpq: `require` encrypts without checking the certificate, and `verify-*` checks it. */
const sslOf = (mode: string): ConnectionOptions['ssl'] => {
  if (!MODES.includes(mode))
    throw new AppError(
      'invalid_input',
      `DATABASE_URL: sslmode must be one of ${MODES.join(', ')}: ${mode}`,
    )
  return mode.startsWith('verify') ? 'verify-full' : mode === 'require' ? 'require' : 'prefer'
}

/** The host and port as the URL writes them, without any name, password or database. */
export const hostIn = (text: string): string => {
  const [, written = ''] = /^[^:]+:\/\/(?:[^/]*@)?([^/?@]*)/.exec(text) ?? []
  const [, given = ''] = /[?&]host=([^&#]*)/.exec(text) ?? []
  return given || written
}
