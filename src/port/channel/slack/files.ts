/** Files that people sent, read with the bot's token. */
import type { Egress, EgressBytes } from '#port/egress/egress'
import { asObject } from '#port/fields'
import type { Fetched, OpenConnection } from '../channel.ts'
import { downloadFrom } from '../downloads.ts'
import { callSlack } from './web-api.ts'

export interface SlackParts {
  egress: Egress
  urls: Readonly<Record<'slack' | 'slack_files', string>>
}

/** The token goes only to Slack's own host for files, and to no other that a post may name. */
const isSlacks = (url: string, files: string): boolean => {
  const [given, own] = [URL.parse(url), URL.parse(files)]
  return (
    given !== null &&
    own !== null &&
    given.origin === own.origin &&
    given.username === '' &&
    given.password === ''
  )
}

const FORBIDDEN = 'Slack does not hand the file out: the app needs the scope files:read'

/** Without the scope, Slack shows its sign-in page, either at once or after a redirect. */
const refusal = ({ status, headers, bytes }: EgressBytes): string | undefined => {
  const isPage = String(headers['content-type'] ?? '').startsWith('text/html')
  const isSignIn =
    isPage && /^\s*<(!doctype html|html)/i.test(bytes.subarray(0, 200).toString('latin1'))
  return isSignIn || [401, 403].includes(status) || (status >= 300 && status < 400)
    ? FORBIDDEN
    : undefined
}

/**
 * The address of a file. Posts leave it out where an app has to ask for it, for example in channels
 * that are shared with other companies.
 */
const addressOf = async (
  { egress, urls }: SlackParts,
  token: string,
  { id, url }: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Fetched<string>> => {
  if (typeof url === 'string') return { kind: 'fetched', value: url }
  const outcome = await callSlack(egress, {
    url: `${urls.slack}/files.info`,
    token,
    args: { file: String(id) },
    signal,
  })
  if (outcome.kind === 'refused') return { kind: 'gone', error: outcome.error }
  if (outcome.kind !== 'ok') return { kind: 'unreachable', error: outcome.error }
  const file = asObject(outcome.answer.file)
  const found = file.url_private_download ?? file.url_private
  return typeof found === 'string'
    ? { kind: 'fetched', value: found }
    : { kind: 'gone', error: 'Slack does not say where the file is' }
}

export const downloadSlackFile = async (
  parts: SlackParts,
  { credentials }: OpenConnection,
  ref: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Fetched<Uint8Array>> => {
  const token = credentials.botToken ?? ''
  const address = await addressOf(parts, token, ref, signal)
  if (address.kind !== 'fetched') return address
  if (!isSlacks(address.value, parts.urls.slack_files))
    return { kind: 'gone', error: 'the file is not kept by Slack' }
  return downloadFrom(
    parts.egress,
    { url: address.value, headers: { authorization: `Bearer ${token}` }, refusal },
    signal,
  )
}
