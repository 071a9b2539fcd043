import { afterAll } from 'bun:test'
import type { OpenConnection } from '#port/channel/channel'
import { emailAdapter } from '#port/channel/email/adapter'
import { egressTo } from '../http/egress.ts'
import { type FakeMailgun, openMailgun } from './mailgun.ts'
import { type FakeResend, openResend } from './resend.ts'

export const OURS = 'agent@example.com'

const CLOSED = 'http://127.0.0.1:9'

/** The adapter, whose providers are these servers. */
const mailAdapter = (fakes: { resend?: FakeResend; mailgun?: FakeMailgun; eu?: FakeMailgun }) => {
  const { resend, mailgun, eu } = fakes
  const urls = {
    resend: resend?.url ?? CLOSED,
    mailgun: mailgun?.url ?? CLOSED,
    mailgun_eu: eu?.url ?? CLOSED,
  }
  return emailAdapter({
    egress: egressTo(...Object.values(urls), ...(resend ? [resend.cdnUrl] : [])),
    urls,
  })
}

export const resendConnection = (
  { apiKey, signingSecret }: FakeResend,
  config: Record<string, unknown> = {},
): OpenConnection => ({
  id: 'c1',
  routingKey: OURS,
  config: { provider: 'resend', ...config },
  credentials: { apiKey, signingSecret },
})

export const mailgunConnection = (
  { apiKey, signingKey }: FakeMailgun,
  config: Record<string, unknown> = {},
): OpenConnection => ({
  id: 'c1',
  routingKey: OURS,
  config: { provider: 'mailgun', ...config },
  credentials: { apiKey, signingSecret: signingKey },
})

/** Resend for the tests of a file, with our domain, and how we reach it. */
export const useResend = () => {
  const fake = openResend()
  afterAll(() => fake[Symbol.asyncDispose]())
  fake.domains.push({
    id: 'd1',
    name: 'example.com',
    status: 'verified',
    capabilities: { sending: 'enabled', receiving: 'enabled' },
  })
  return { fake, adapter: mailAdapter({ resend: fake }), connection: resendConnection(fake) }
}

/**
 * Mailgun for the tests of a file, with our domain, and how we reach it. Its EU region does not
 * know the domain.
 */
export const useMailgun = () => {
  const [fake, eu] = [openMailgun(), openMailgun()]
  afterAll(async () => {
    await Promise.all([fake[Symbol.asyncDispose](), eu[Symbol.asyncDispose]()])
  })
  fake.domains.set('example.com', { state: 'active' })
  return {
    fake,
    eu,
    adapter: mailAdapter({ mailgun: fake, eu }),
    connection: mailgunConnection(fake),
  }
}
