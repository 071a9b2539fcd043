import { join } from 'node:path'
import { AppError } from '#kernel/errors'

/** Everything the environment decides, read once. Every default is here. */
export interface Config {
  port: number
  host: string
  /** Where people and programs reach this deployment. */
  publicUrl: string
  /** Where other processes of this deployment reach this one. */
  nodeUrl: string
  home: string
  databaseUrl: string | undefined
  logLevel: string
  commit: string | null
  sandboxFaults: string
  /** How reads of the sandbox count: `payg` meters them as if they were paid for. */
  sandboxTier: 'free' | 'payg'
  /** Which engagements the sandbox lets programs do: all (`open`), or those that X leaves self-serve programs (`x_selfserve`). */
  sandboxRules: 'open' | 'x_selfserve'
  openai: { apiKey: string; baseUrl: string | undefined; fast: string; reasoning: string } | undefined
  bootstrapKey: string | undefined
  /** Base64 of 32 bytes. */
  secretKey: string | undefined
  /** `host:port` pairs that webhooks may call though they are not public, also by plain http; for tests. */
  egressAllow: string[]
  /** Proxies before this server whose X-Forwarded-For is believed. */
  trustedProxies: number
  /** Off: requests and commands are not counted against rates, neither by plan nor by address; for benches and harnesses. */
  rateLimits: boolean
  failpoints: string
}

type Env = Record<string, string | undefined>

const defaultHome = (env: Env): string => (process.getuid?.() === 0 ? '/var/lib/tendril' : join(env.HOME ?? '.', '.tendril', 'server'))

const portOf = (text: string): number => {
  const port = Number(text)
  if (Number.isInteger(port) && port >= 0 && port < 65_536) return port
  throw new AppError('invalid_input', `PORT is not a port number: ${text}`)
}

/** Without a slash at its end, so that paths can be put behind it. */
const addressOf = (text: string): string => {
  if (/^https?:$/.test(URL.parse(text)?.protocol ?? '')) return text.replace(/\/+$/, '')
  throw new AppError('invalid_input', `PUBLIC_URL must be an http or https address: ${text}`)
}

const countOf = (name: string, text: string): number => {
  if (/^\d{1,2}$/.test(text)) return Number(text)
  throw new AppError('invalid_input', `${name} must be a small number: ${text}`)
}

const tierOf = (text: string): Config['sandboxTier'] => {
  if (text === 'free' || text === 'payg') return text
  throw new AppError('invalid_input', `SANDBOX_TIER must be free or payg: ${text}`)
}

const rulesOf = (text: string): Config['sandboxRules'] => {
  if (text === 'open' || text === 'x_selfserve') return text
  throw new AppError('invalid_input', `SANDBOX_RULES must be open or x_selfserve: ${text}`)
}

const switchOf = (name: string, text: string): boolean => {
  if (text === 'on' || text === 'off') return text === 'on'
  throw new AppError('invalid_input', `${name} must be on or off: ${text}`)
}

/** Exact pairs only, never a range. */
const PAIR = /^([^\s:/@]+|\[[0-9a-f:.]+\]):\d{1,5}$/

const pairsOf = (text: string): string[] => {
  const pairs = text.split(',').filter((pair) => pair.trim() !== '')
  const wrong = pairs.find((pair) => !PAIR.test(pair))
  if (wrong !== undefined) throw new AppError('invalid_input', `EGRESS_ALLOW takes host:port, separated by commas, not ${wrong}`)
  return pairs
}

export const readConfig = (env: Env = process.env): Config => {
  const port = portOf(env.PORT || '7070')
  const host = env.HOST || '127.0.0.1'
  return Object.freeze({
    port,
    host,
    publicUrl: addressOf(env.PUBLIC_URL || `http://localhost:${port}`),
    nodeUrl: env.NODE_URL || `http://${host}:${port}`,
    home: env.TENDRIL_HOME || defaultHome(env),
    databaseUrl: env.DATABASE_URL || undefined,
    logLevel: env.LOG_LEVEL || 'info',
    commit: env.TENDRIL_COMMIT || null,
    sandboxFaults: env.SANDBOX_FAULTS || '',
    sandboxTier: tierOf(env.SANDBOX_TIER || 'free'),
    sandboxRules: rulesOf(env.SANDBOX_RULES || 'open'),
    openai: env.OPENAI_API_KEY
      ? {
          apiKey: env.OPENAI_API_KEY,
          baseUrl: env.OPENAI_BASE_URL || undefined,
          fast: env.MODEL_FAST || 'gpt-5-mini',
          reasoning: env.MODEL_REASONING || 'gpt-5',
        }
      : undefined,
    bootstrapKey: env.TENDRIL_BOOTSTRAP_KEY || undefined,
    secretKey: env.TENDRIL_SECRET_KEY || undefined,
    egressAllow: pairsOf(env.EGRESS_ALLOW ?? ''),
    trustedProxies: countOf('TRUSTED_PROXIES', env.TRUSTED_PROXIES || '0'),
    rateLimits: switchOf('RATE_LIMITS', env.RATE_LIMITS || 'on'),
    failpoints: env.TENDRIL_FAILPOINTS || '',
  })
}
