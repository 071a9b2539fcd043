/** The deployment and credential of a command. */
import type { NamedOp } from '#contract/op'
import { type CliProfile, readSettings, type Settings } from './config-file.ts'
import { Failure, misuse } from './failure.ts'
import type { Host } from './host.ts'

export const DEFAULT_URL = 'http://localhost:7070'
export const DEFAULT_PROFILE = 'default'

export interface ServerProfile {
  /** Undefined if no profile matches the URL. */
  name: string | undefined
  url: string
  profile: CliProfile
  /** From an option, the environment or the profile, in this order. */
  apiKey: string | undefined
  settings: Settings
}

/** Without a trailing slash. */
const checkedUrl = (text: string): string => {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (!url || !/^https?:$/.test(url.protocol))
    return misuse(`${text} is not a valid URL`, 'write it as https://tendril.example.com')
  if (url.username || url.password || url.search || url.hash)
    return misuse('the URL of a deployment cannot have a user name, query or fragment')
  return url.href.replace(/\/+$/, '')
}

const checkedKey = (text: string): string => {
  const key = text.trim()
  return /^[\x21-\x7e]+$/.test(key)
    ? key
    : misuse(
        key === ''
          ? 'the API key is empty'
          : 'an API key cannot contain spaces or control characters',
      )
}

const textIn = (options: Record<string, unknown>, name: string): string | undefined =>
  typeof options[name] === 'string' ? (options[name] as string) : undefined

const findProfile = (settings: Settings, name: string): CliProfile | undefined =>
  Object.hasOwn(settings.profiles, name) ? settings.profiles[name] : undefined

const urlOf = (profile: CliProfile | undefined): string | undefined =>
  profile ? checkedUrl(profile.api_url ?? DEFAULT_URL) : undefined

/** The current profile if it has this URL. Otherwise, the first profile that has it. */
const nameByUrl = (settings: Settings, url: string): string | undefined => {
  const names = Object.keys(settings.profiles).filter(
    (name) => urlOf(settings.profiles[name]) === url,
  )
  return names.find((name) => name === settings.current) ?? names[0]
}

interface Wanted {
  name: string | undefined
  url: string | undefined
  key: string | undefined
}

const wantedOf = async (options: Record<string, unknown>, host: Host): Promise<Wanted> => {
  const key = textIn(options, 'apiKey')
  const url = textIn(options, 'apiUrl') ?? (host.env.TENDRIL_API_URL || undefined)
  return {
    name: textIn(options, 'profile') ?? (host.env.TENDRIL_PROFILE || undefined),
    url: url === undefined ? undefined : checkedUrl(url),
    key: key === '-' ? await host.readInput() : (key ?? (host.env.TENDRIL_API_KEY || undefined)),
  }
}

/** Sends a stored key only to its own URL, and never to another one that an option gives. */
export const findTarget = async (
  options: Record<string, unknown>,
  host: Host,
): Promise<ServerProfile> => {
  const settings = await readSettings(host.home, (text) => host.stderr.write(`tendril: ${text}\n`))
  const { name, url, key } = await wantedOf(options, host)
  const chosen = name ?? (url === undefined ? settings.current : nameByUrl(settings, url))
  const profile = chosen === undefined ? undefined : findProfile(settings, chosen)
  const home = urlOf(profile)
  const target = url ?? home ?? DEFAULT_URL
  const fitting = profile && home === target ? profile : {}
  const apiKey = key === undefined ? fitting.api_key : checkedKey(key)
  return { name: chosen, url: target, profile: fitting, apiKey, settings }
}

const urlFlag = ({ url }: ServerProfile): string => (url === DEFAULT_URL ? '' : ` --api-url ${url}`)

const sessionOf = (target: ServerProfile): string => {
  const { session } = target.profile
  const hint = `run tendril login --session${urlFlag(target)}`
  if (!session)
    throw new Failure('unauthenticated', 'this command requires a signed-in person', { hint })
  if (Date.parse(session.expires_at) <= Date.now())
    throw new Failure('unauthenticated', 'the session has ended', { hint })
  return session.token
}

/**
 * The Bearer token. For an unknown profile, throws a `Failure`, but only if the profile's key is
 * needed.
 */
export const tokenFor = (
  o: Pick<NamedOp, 'scope'>,
  target: ServerProfile,
  asMe: { asMe?: unknown },
): string | undefined => {
  if (o.scope === 'public') return undefined
  if (target.name !== undefined && !target.apiKey && !findProfile(target.settings, target.name))
    return misuse(
      `no such profile: ${target.name}`,
      'run tendril profiles list to see them, or tendril login --profile to create one',
    )
  if (o.scope === 'session' || asMe.asMe === true) return sessionOf(target)
  if (target.apiKey !== undefined) return target.apiKey
  throw new Failure('unauthenticated', `not logged in to ${target.url}`, {
    hint: `run tendril login${urlFlag(target)}`,
  })
}
