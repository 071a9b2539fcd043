/** `login`, `logout` and `whoami`. */
import { operations } from '#contract/index'
import type { NamedOp } from '#contract/op'
import { askOf, call } from './call.ts'
import { type CliProfile, type Settings, writeSettings } from './config-file.ts'
import { deviceLogin, type Grant, revoke } from './device.ts'
import { Failure, misuse } from './failure.ts'
import type { Host } from './host.ts'
import { jsonText, printAnswer } from './print.ts'
import { DEFAULT_PROFILE, DEFAULT_URL, findTarget, type ServerProfile, tokenFor } from './target.ts'
import { openTransport, type Transport } from './transport.ts'

export type Options = Readonly<Record<string, unknown>>

const USUAL_SCOPES = 'api:read api:write mcp:use'
const SESSION_SCOPE = 'session'
const DEFAULT_LIFE_S = 3_600

const connection = (): NamedOp => operations.find(({ id }) => id === 'growth.connection.get')!

const withTransport = async <T>(
  url: string,
  host: Host,
  work: (transport: Transport) => Promise<T>,
): Promise<T> => {
  const transport = await openTransport(url, host.signal)
  try {
    return await work(transport)
  } finally {
    transport.close()
  }
}

const profileNamed = ({ profiles }: Settings, name: string): CliProfile =>
  Object.hasOwn(profiles, name) ? profiles[name]! : {}

const chosenProfile = (options: Options, host: Host): string | undefined =>
  typeof options.profile === 'string' ? options.profile : host.env.TENDRIL_PROFILE || undefined

/**
 * The profile that the user named. Without one, the deployment's existing profile, or else
 * `default`, or else the host's name.
 */
const profileName = (target: ServerProfile, options: Options, host: Host): string => {
  const chosen = chosenProfile(options, host)
  if (chosen !== undefined)
    return /^[\w.@:-]{1,64}$/.test(chosen) && chosen !== '__proto__'
      ? chosen
      : misuse(`${chosen} is not a valid profile name`)
  if (target.name !== undefined && target.profile.api_url !== undefined) return target.name
  const { profiles } = target.settings
  return Object.hasOwn(profiles, DEFAULT_PROFILE) ? new URL(target.url).host : DEFAULT_PROFILE
}

const store = async (
  target: ServerProfile,
  name: string,
  { host, profile }: { host: Host; profile: CliProfile },
): Promise<void> => {
  const { settings, url } = target
  const before = profileNamed(settings, name)
  const existing = (before.api_url ?? DEFAULT_URL) === url ? before : {}
  const profiles = { ...settings.profiles, [name]: { ...existing, ...profile, api_url: url } }
  await writeSettings(host.home, { ...settings, current: name, profiles })
}

/** Throws for an invalid key. A key without api:read passes. */
const checkKey = async (transport: Transport, host: Host, token: string): Promise<void> => {
  try {
    await call(transport, askOf(connection(), {}, { token }), host)
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.code !== 'missing_scope') throw cause
    host.stderr.write(`tendril: ${cause.message}; saved the key anyway\n`)
  }
}

const scopeOf = ({ session, scopes }: Options): string => {
  if (session === true)
    return scopes === undefined
      ? SESSION_SCOPE
      : misuse('--session cannot be combined with --scopes')
  return typeof scopes === 'string'
    ? scopes
        .split(/[\s,]+/)
        .filter(Boolean)
        .join(' ')
    : USUAL_SCOPES
}

const profileOf = (
  { access_token, workspace, expires_in }: Grant,
  isSession: boolean,
): CliProfile => {
  const place = workspace
    ? {
        workspace: {
          id: workspace.id,
          ...(workspace.name === undefined ? {} : { name: workspace.name }),
        },
      }
    : {}
  if (!isSession) return { ...place, api_key: access_token, made_by_login: true }
  const ends = new Date(Date.now() + (expires_in ?? DEFAULT_LIFE_S) * 1_000)
  return { ...place, session: { token: access_token, expires_at: ends.toISOString() } }
}

const reportLogin = (
  host: Host,
  options: Options,
  { name, url, profile }: { name: string; url: string; profile: CliProfile },
): number => {
  const { workspace } = profile
  if (options.json === true)
    host.stdout.write(
      jsonText({ profile: name, api_url: url, workspace: workspace ?? null }, host.stdout),
    )
  else
    host.stdout.write(
      `logged in to ${workspace ? `${workspace.name ?? workspace.id} at ` : ''}${url}, profile ${name}\n`,
    )
  return 0
}

/** Uses a key only if it is passed to this command, and not one that the profile already has. */
export const login = async (options: Options, host: Host): Promise<number> => {
  const isByKey = typeof options.apiKey === 'string'
  if (isByKey && (options.session === true || options.scopes !== undefined))
    return misuse('--api-key cannot be combined with --session or --scopes')
  const scope = scopeOf(options)
  const target = await findTarget(options, host)
  const name = profileName(target, options, host)
  const profile = await withTransport(target.url, host, async (transport) => {
    if (isByKey) {
      await checkKey(transport, host, target.apiKey!)
      return { api_key: target.apiKey!, made_by_login: undefined, workspace: undefined }
    }
    const grant = await deviceLogin(transport, host, {
      scope,
      browser: options.browser !== false && host.stderr.columns !== undefined,
    })
    return profileOf(grant, options.session === true)
  })
  await store(target, name, { host, profile })
  return reportLogin(host, options, { name, url: target.url, profile })
}

const requireKnown = (target: ServerProfile): string =>
  target.name !== undefined && Object.hasOwn(target.settings.profiles, target.name)
    ? target.name
    : misuse(
        target.name === undefined
          ? `no profile is logged in to ${target.url}`
          : `no such profile: ${target.name}`,
      )

/**
 * The credentials to revoke: those that `login` created, and with `--revoke` also a key that the
 * user passed to it.
 */
const toRevoke = ({ session, api_key, made_by_login }: CliProfile, options: Options): string[] => {
  if (options.local === true)
    return options.revoke === true ? misuse('--local cannot be combined with --revoke') : []
  const isOurs = made_by_login === true || options.revoke === true
  return [session?.token, isOurs ? api_key : undefined].filter((token) => token !== undefined)
}

const revokeAll = (tokens: string[], url: string, host: Host): Promise<void> =>
  withTransport(url, host, async (transport) => {
    for (const token of tokens) await revoke(transport, host, token)
  }).catch((cause: unknown) => {
    const { code, message, exit } = Failure.from(cause)
    throw new Failure(code, `could not revoke the credentials, so they were kept: ${message}`, {
      exit,
      hint: 'run tendril logout --local to remove them without revoking',
    })
  })

const stillValid = (isKey: boolean): string =>
  isKey
    ? '; the API key is still valid, because login did not create it: revoke it with tendril logout --revoke'
    : '; its credentials are still valid'

/** Removes the profile's credentials, after the server has revoked those that should be revoked. */
export const logout = async (options: Options, host: Host): Promise<number> => {
  const target = await findTarget(
    { ...options, apiKey: undefined },
    { ...host, env: { ...host.env, TENDRIL_API_KEY: undefined } },
  )
  const name = requireKnown(target)
  const { api_key, session, workspace: _workspace, made_by_login: _made, ...rest } = target.profile
  const held = [session?.token, api_key].filter((token) => token !== undefined)
  if (held.length === 0) return misuse(`profile ${name} is not logged in`)
  const tokens = toRevoke(target.profile, options)
  if (tokens.length > 0) await revokeAll(tokens, target.url, host)
  const { settings } = target
  await writeSettings(host.home, { ...settings, profiles: { ...settings.profiles, [name]: rest } })
  const isAll = tokens.length === held.length
  if (options.json === true)
    host.stdout.write(jsonText({ profile: name, revoked: isAll }, host.stdout))
  else
    host.stdout.write(
      `logged out of ${target.url}, profile ${name}${isAll ? '' : stillValid(options.local !== true)}\n`,
    )
  return 0
}

export const whoami = async (options: Options, host: Host): Promise<number> => {
  const target = await findTarget(options, host)
  const asMe = target.apiKey === undefined && target.profile.session !== undefined
  const token = tokenFor(connection(), target, { asMe })
  const { body } = await withTransport(target.url, host, (transport) =>
    call(transport, askOf(connection(), {}, { token }), host),
  )
  const { workspace = null, session } = target.profile
  const shown = {
    profile: target.name ?? null,
    api_url: target.url,
    workspace,
    session_until: session?.expires_at ?? null,
    ...body,
  }
  printAnswer(host, shown, options.json === true)
  return 0
}
