/**
 * A server whose model answers by `echo`, and servers that play the providers of all channels. The
 * test files of a worker share them, so each test makes its own connections.
 */

import { type TestApp, testApp } from '../app.ts'
import { openReceiver, type Received, type ReceiverAnswer } from '../http/receiver.ts'
import { use } from '../use.ts'
import { echo } from './echo.ts'
import { type FakeMailgun, openMailgun } from './mailgun.ts'
import { type FakeResend, openResend } from './resend.ts'
import { type FakeSlack, openSlack } from './slack.ts'
import { type FakeTwilio, openTwilio } from './twilio.ts'
import { type FakeMeta, openMeta } from './whatsapp.ts'

/** The address at which the world knows the deployment, which is behind a proxy. */
export const PUBLIC_URL = 'https://tendril.example.com'

/** The program of a developer. */
interface FakeProgram {
  url: string
  requests: Received[]
  /** The messages that it has accepted, by the path of the connection. */
  messages: { path: string; sender: string; text: string }[]
  /** Replaces the usual answer to the next message, which is accepted all the same. */
  next: ReceiverAnswer[]
}

export interface ChannelWorld {
  app: TestApp
  slack: FakeSlack
  meta: FakeMeta
  twilio: FakeTwilio
  resend: FakeResend
  mailgun: FakeMailgun
  program: FakeProgram
}

const openProgram = async (): Promise<FakeProgram> => {
  const receiver = await openReceiver()
  const { url, requests } = receiver
  const program: FakeProgram = { url, requests, messages: [], next: [] }
  receiver.answer = ({ url, body }) => {
    program.messages.push({ path: url, ...JSON.parse(body) })
    return program.next.shift() ?? {}
  }
  return program
}

const open = async (): Promise<ChannelWorld> => {
  const [slack, meta, program] = [await openSlack([]), await openMeta([]), await openProgram()]
  const [twilio, resend, mailgun] = [openTwilio(), openResend(), openMailgun()]
  resend.domains.push({
    id: 'd1',
    name: 'example.com',
    status: 'verified',
    capabilities: { sending: 'enabled', receiving: 'enabled' },
  })
  mailgun.domains.set('example.com', { state: 'active' })
  const urls = { ...slack.urls, ...meta.urls, twilio: twilio.url }
  const all = { ...urls, resend: resend.url, mailgun: mailgun.url }
  const reached = [...Object.values(all), twilio.cdnUrl, resend.cdnUrl, program.url]
  const app = await testApp({
    model: echo(),
    overrides: {
      // The pauses between messages are those of test/flow/agent/channel/replies-spacing.test.ts.
      channels: (usual) =>
        Object.fromEntries(
          Object.entries(usual).map(([name, adapter]) => [name, { ...adapter, spacingMs: 0 }]),
        ),
    },
    env: {
      PUBLIC_URL,
      CHANNEL_URLS: JSON.stringify(all),
      EGRESS_ALLOW: reached.map((url) => new URL(url).host).join(','),
    },
  })
  return { app, slack, meta, twilio, resend, mailgun, program }
}

let shared: Promise<ChannelWorld> | undefined

export const useChannels = (): ChannelWorld =>
  use(async () => {
    shared ??= open()
    return { ...(await shared), async [Symbol.asyncDispose]() {} }
  })
