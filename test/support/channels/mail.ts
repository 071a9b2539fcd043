import type { OpenConnection } from '#port/channel/channel'
import { emailAdapter } from '#port/channel/email/adapter'
import { egressTo } from '../http/egress.ts'
import type { FakeMailgun } from './mailgun.ts'
import type { FakeResend } from './resend.ts'

export const OURS = 'agent@example.com'

const CLOSED = 'http://127.0.0.1:9'

/** The adapter, whose providers are these servers. */
export const mailAdapter = (fakes: { resend?: FakeResend; mailgun?: FakeMailgun; eu?: FakeMailgun }) => {
  const { resend, mailgun, eu } = fakes
  const urls = { resend: resend?.url ?? CLOSED, mailgun: mailgun?.url ?? CLOSED, mailgun_eu: eu?.url ?? CLOSED }
  return emailAdapter({ egress: egressTo(...Object.values(urls), ...(resend ? [resend.cdnUrl] : [])), urls })
}

export const resendConnection = ({ apiKey, signingSecret }: FakeResend, config: Record<string, unknown> = {}): OpenConnection => ({
  ...{ id: 'c1', routingKey: OURS, config: { provider: 'resend', ...config }, credentials: { apiKey, signingSecret } },
})

export const mailgunConnection = ({ apiKey, signingKey }: FakeMailgun, config: Record<string, unknown> = {}): OpenConnection => ({
  ...{ id: 'c1', routingKey: OURS, config: { provider: 'mailgun', ...config }, credentials: { apiKey, signingSecret: signingKey } },
})
