/** Mail, through the provider that a connection names. */
import type { ChannelAdapter, InboundPost, OpenConnection } from '../channel.ts'
import { postedJson } from '../posts.ts'
import { parseMailAddress } from './address.ts'
import type { MailParts, MailProvider } from './mail.ts'
import { mailgunMail } from './mailgun.ts'
import { resendMail } from './resend.ts'

const PROVIDERS = ['resend', 'mailgun'] as const
const REGIONS = ['us', 'eu']
const LONGEST_NAME = 100
/** Providers accept a few requests per second. */
const SPACING_MS = 500

const FIELDS: ChannelAdapter['fields'] = {
  credentials: {
    apiKey: {
      needed: true,
      description:
        'API key of the provider: of Resend one with full access, of Mailgun one of the account.',
    },
    signingSecret: {
      needed: true,
      description:
        'What the provider signs its posts with: of Resend the signing secret of the webhook (whsec_…), of Mailgun the HTTP webhook signing key.',
    },
  },
  config: {
    provider: { description: 'resend or mailgun; resend unless told.' },
    region: { description: 'Of Mailgun: us or eu, where the domain is; us unless told.' },
    fromName: {
      description: `Name beside the address of mails that are sent, at most ${LONGEST_NAME} characters.`,
    },
  },
}

const configError: ChannelAdapter['configError'] = ({ provider, region, fromName }) => {
  if (provider !== undefined && !PROVIDERS.some((name) => name === provider))
    return 'config.provider must be resend or mailgun'
  if (region !== undefined && !REGIONS.some((name) => name === region))
    return 'config.region must be us or eu'
  const isName =
    typeof fromName === 'string' &&
    fromName.length <= LONGEST_NAME &&
    !/[\p{Cc}"<>\\]/u.test(fromName)
  return fromName === undefined || isName
    ? undefined
    : `config.fromName must be text of at most ${LONGEST_NAME} characters without quotation marks, brackets and backslashes`
}

const routingKeyOf: ChannelAdapter['routingKeyOf'] = (text) => {
  const key = parseMailAddress(text)
  if (key === undefined) return { error: 'must be a mail address such as agent@example.com' }
  return key.includes('+')
    ? { error: 'must not have a + before the @: mail to such addresses arrives without it' }
    : { key }
}

export const emailAdapter = (parts: MailParts): ChannelAdapter => {
  const providers: Record<(typeof PROVIDERS)[number], MailProvider> = {
    resend: resendMail(parts),
    mailgun: mailgunMail(parts),
  }
  /** Guesses the provider from the body: Resend posts JSON, Mailgun posts forms. */
  const guessed = (post: InboundPost) => (postedJson(post) ? providers.resend : providers.mailgun)
  const providerOf = ({ config }: OpenConnection, post?: InboundPost): MailProvider => {
    if (config.provider === 'resend' || config.provider === 'mailgun')
      return providers[config.provider]
    return post ? guessed(post) : providers.resend
  }
  return {
    channel: 'email',
    fields: FIELDS,
    routingKeyOf,
    configError,
    spacingMs: SPACING_MS,
    route(post) {
      const keys = guessed(post).recipients(post)
      return keys.length > 0 ? { kind: 'keys', keys } : { kind: 'unknown' }
    },
    verify: (post, connection) => providerOf(connection, post).verify(post, connection),
    read: (post, connection) => providerOf(connection, post).read(post, connection),
    check: (connection, signal) => providerOf(connection).check(connection, signal),
    send: (connection, message, signal) => providerOf(connection).send(connection, message, signal),
    fetch: (connection, toFetch, signal) =>
      providerOf(connection).fetch(connection, toFetch, signal),
    download: (connection, ref, signal) => providerOf(connection).download(connection, ref, signal),
    repeatableForMs: (connection) => providerOf(connection).repeatableForMs(connection),
  }
}
