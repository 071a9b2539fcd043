import { join } from 'node:path'
import { type BackupSettings, backupsOf } from './backups.ts'
import { type ChannelUrls, channelUrlsOf } from './channels.ts'
import { type MetricsSettings, metricsOf } from './metrics.ts'
import { type AllowedProgram, programsOf } from './programs.ts'
import { type S3Settings, s3Of } from './s3.ts'
import { type TraceSettings, tracesOf } from './traces.ts'
import {
  bootstrapKeyOf,
  choiceOf,
  commitOf,
  failpointsOf,
  hostAndPort,
  hostsOf,
  levelOf,
  type ModelPrice,
  modelKeyOf,
  modelsOf,
  pairsOf,
  parseAddress,
  parseContextSize,
  parseDays,
  parseHost,
  portOf,
  pricesOf,
  proxiesOf,
  refuseValue,
  secretOf,
  switchOf,
} from './values.ts'

interface OpenaiConfig {
  apiKey: string
  baseUrl: string | undefined
  fast: string
  reasoning: string
  /** Whether conversations are streamed. */
  stream: boolean
  /** Models that a conversation may name. */
  allow: string[]
  /** How many tokens the models hold, input and output together. */
  context: number
  /** Prices that take precedence over those of the list. */
  prices: Record<string, ModelPrice>
}

/** The settings from the environment, with all defaults. */
export interface Config {
  port: number
  host: string
  /** The URL of this deployment for people and programs. */
  publicUrl: string
  /** The URL of this process for the other processes of the deployment. */
  nodeUrl: string
  /**
   * The folder for everything on this machine; undefined if neither TENDRIL_HOME nor HOME is set.
   */
  home: string | undefined
  databaseUrl: string | undefined
  logLevel: string
  commit: string | null
  sandboxFaults: string
  /** `payg` meters reads of the sandbox as if they cost money. */
  sandboxTier: 'free' | 'payg'
  /**
   * Which engagements the sandbox allows: all (`open`), or those that X allows self-serve programs
   * (`x_selfserve`).
   */
  sandboxRules: 'open' | 'x_selfserve'
  /** `reactions`: the sandbox counts neither impressions nor clicks, like Bluesky. */
  sandboxCounts: 'all' | 'reactions'
  /** Where Bluesky is. */
  bluesky: BlueskyUrls
  /** Undefined if the composer drafts. */
  openai: OpenaiConfig | undefined
  bootstrapKey: string | undefined
  /**
   * Where the first start writes the key and the link: to standard output, or to a file under
   * `home`.
   */
  firstStart: 'print' | 'file'
  /** Starts the deployment held: nothing goes out by itself until an operator ends that. */
  held: boolean
  /** Base64 of 32 bytes. */
  secretKey: string | undefined
  /** The key that the secret key is rotated to, in the same form. */
  nextSecretKey: string | undefined
  /**
   * `host:port` pairs that may be called although they are not public, even over plain http. For
   * tests.
   */
  egressAllow: string[]
  /** Addresses and networks of the proxies whose X-Forwarded-For is believed. */
  trustedProxies: readonly string[]
  /** False leaves out the web console; the pages without scripts stay. */
  console: boolean
  /** False disables rates by plan and by address. For benchmarks and harnesses. */
  rateLimits: boolean
  /** How long audit rows are kept. */
  auditKeepDays: number
  /** How long the steps and events of the agent's jobs are kept. */
  agentKeepDays: number
  /**
   * Hosts that the agent may read without asking, in addition to those that it always may:
   * `docs.example.com`, `*.example.com`.
   */
  fetchAllow: string[]
  /** Undefined if files are kept in the database. */
  s3: S3Settings | undefined
  /** As whom a logical backup reads, if not as the role of `databaseUrl`. */
  backupDatabaseUrl: string | undefined
  /** Undefined if the server makes no backups by itself. */
  backups: BackupSettings | undefined
  /** Programs that workspaces may run as MCP servers. */
  mcpStdio: AllowedProgram[]
  /** Where the providers of channels are called. */
  channelUrls: ChannelUrls
  /** Undefined if nobody can read metrics. */
  metrics: MetricsSettings | undefined
  /** Undefined if there are no traces. */
  traces: TraceSettings | undefined
  failpoints: string
}

type Env = Record<string, string | undefined>

interface BlueskyUrls {
  /** Where people sign in who name no other server. */
  service: string
  /** The directory of identities. */
  plcUrl: string
  /** Of pages for people. */
  appUrl: string
}

const blueskyOf = (env: Env): BlueskyUrls => ({
  service: parseAddress('BLUESKY_SERVICE', env.BLUESKY_SERVICE || 'https://bsky.social'),
  plcUrl: parseAddress('BLUESKY_PLC_URL', env.BLUESKY_PLC_URL || 'https://plc.directory'),
  appUrl: parseAddress('BLUESKY_APP_URL', env.BLUESKY_APP_URL || 'https://bsky.app'),
})

/**
 * Never the working folder: a server that is started elsewhere would begin with new data, and leave
 * a secret behind.
 */
const defaultHome = (env: Env, isRoot: boolean): string | undefined =>
  isRoot ? '/var/lib/tendril' : optional(env.HOME, (home) => join(home, '.tendril', 'server'))

const PROVIDER = 'api.openai.com'
/** Sent to local servers, which ignore it. The client requires a key. */
const NO_KEY = 'none'

/** A model is used if there is an API key, or the URL of a server that needs no key. */
const openaiOf = (env: Env): OpenaiConfig | undefined => {
  const settings = {
    stream: switchOf('OPENAI_STREAM', env.OPENAI_STREAM || 'on'),
    allow: modelsOf(env.MODEL_ALLOW ?? ''),
    context: parseContextSize(env.MODEL_CONTEXT || '128000'),
    prices: pricesOf(env.PRICES || '{}'),
  }
  const baseUrl = env.OPENAI_BASE_URL
    ? parseAddress('OPENAI_BASE_URL', env.OPENAI_BASE_URL)
    : undefined
  if (!env.OPENAI_API_KEY && !baseUrl) return undefined
  if (!env.OPENAI_API_KEY && URL.parse(baseUrl!)?.hostname === PROVIDER)
    refuseValue('OPENAI_API_KEY', `set for ${PROVIDER}`)
  return {
    apiKey: env.OPENAI_API_KEY ? modelKeyOf(env.OPENAI_API_KEY) : NO_KEY,
    baseUrl,
    fast: env.MODEL_FAST || 'gpt-5-mini',
    reasoning: env.MODEL_REASONING || 'gpt-5',
    ...settings,
  }
}

/** Analytics look back 30 days. */
const LEAST_AGENT_DAYS = 31

/** Treats empty as unset. */
const optional = <V>(text: string | undefined, read: (text: string) => V): V | undefined =>
  text ? read(text) : undefined

const sandboxOf = (env: Env) => ({
  sandboxFaults: env.SANDBOX_FAULTS || '',
  sandboxTier: choiceOf('SANDBOX_TIER', ['free', 'payg'], env.SANDBOX_TIER || 'free'),
  sandboxRules: choiceOf('SANDBOX_RULES', ['open', 'x_selfserve'], env.SANDBOX_RULES || 'open'),
  sandboxCounts: choiceOf('SANDBOX_COUNTS', ['all', 'reactions'], env.SANDBOX_COUNTS || 'all'),
})

const nextSecretOf = (text: string): string => secretOf(text, 'TENDRIL_SECRET_KEY_NEXT')

export const readConfig = (env: Env = process.env, isRoot = process.getuid?.() === 0): Config => {
  const port = portOf(env.PORT || '7070')
  const host = parseHost(env.HOST || '127.0.0.1')
  return Object.freeze({
    port,
    host,
    publicUrl: parseAddress('PUBLIC_URL', env.PUBLIC_URL || `http://localhost:${port}`),
    nodeUrl: parseAddress('NODE_URL', env.NODE_URL || `http://${hostAndPort(host, port)}`),
    home: env.TENDRIL_HOME || defaultHome(env, isRoot),
    firstStart: choiceOf(
      'TENDRIL_FIRST_START',
      ['print', 'file'],
      env.TENDRIL_FIRST_START || 'print',
    ),
    databaseUrl: env.DATABASE_URL || undefined,
    logLevel: levelOf(env.LOG_LEVEL || 'info'),
    commit: optional(env.TENDRIL_COMMIT, commitOf) ?? null,
    ...sandboxOf(env),
    bluesky: blueskyOf(env),
    openai: openaiOf(env),
    bootstrapKey: optional(env.TENDRIL_BOOTSTRAP_KEY, bootstrapKeyOf),
    held: choiceOf('TENDRIL_HELD', ['0', '1'], env.TENDRIL_HELD || '0') === '1',
    secretKey: optional(env.TENDRIL_SECRET_KEY, secretOf),
    nextSecretKey: optional(env.TENDRIL_SECRET_KEY_NEXT, nextSecretOf),
    egressAllow: pairsOf(env.EGRESS_ALLOW ?? ''),
    trustedProxies: proxiesOf(env.TRUSTED_PROXIES ?? ''),
    auditKeepDays: parseDays('AUDIT_KEEP_DAYS', env.AUDIT_KEEP_DAYS || '400'),
    agentKeepDays: parseDays('AGENT_KEEP_DAYS', env.AGENT_KEEP_DAYS || '90', LEAST_AGENT_DAYS),
    fetchAllow: hostsOf(env.FETCH_ALLOW ?? ''),
    s3: s3Of(env),
    backups: backupsOf(env),
    backupDatabaseUrl: env.BACKUP_DATABASE_URL || undefined,
    mcpStdio: programsOf(env.MCP_STDIO || '[]'),
    channelUrls: channelUrlsOf(env.CHANNEL_URLS || '{}'),
    console: switchOf('CONSOLE', env.CONSOLE || 'on'),
    rateLimits: switchOf('RATE_LIMITS', env.RATE_LIMITS || 'on'),
    metrics: metricsOf(env, port),
    traces: tracesOf(env),
    failpoints: failpointsOf(env.TENDRIL_FAILPOINTS || ''),
  })
}
