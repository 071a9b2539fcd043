/**
 * Addresses of mail that are connected with a workspace of ours: people write to them, and read
 * what they answer.
 */
import type { TestApp } from '../app.ts'
import { eventually } from '../eventually.ts'
import { channelAdmin } from './channels.ts'
import type { FakeMailgun, MailgunPostChanges, RoutedMail } from './mailgun.ts'
import type { FakeResend, ReceivedMail, ResendPostChanges } from './resend.ts'

let count = 0

interface Delivered {
  status: number
  body: string
}

/** What people read of a mail. */
export interface ReadMail {
  to: string
  subject: string
  text: string
  html: string
  headers: Record<string, string>
}

const delivered = async (request: Request): Promise<Delivered> => {
  const response = await fetch(request)
  return { status: response.status, body: await response.text() }
}

const connected = async (app: TestApp, options: Record<string, unknown>) => {
  const { tenantId } = await app.newWorkspace()
  const admin = await channelAdmin(app, tenantId)
  const address = `agent${++count}@example.com`
  const id = await admin.active({ channel: 'email', routingKey: address, ...options })
  return { ...admin, id, tenantId, address, postUrl: `${app.url}/webhooks/channels/email` }
}

const reading = (mails: () => ReadMail[]) => (many: number) =>
  eventually(mails, (all) => all.length >= many)

export const resendStory = async (
  app: TestApp,
  resend: FakeResend,
  options: Record<string, unknown> = {},
) => {
  const { apiKey, signingSecret } = resend
  const given = {
    config: { provider: 'resend' },
    credentials: { apiKey, signingSecret },
    ...options,
  }
  const story = await connected(app, given)
  const deliver = (mail: ReceivedMail, changes: ResendPostChanges = {}) =>
    delivered(resend.post(story.postUrl, mail, changes))
  const writes = async (mail: Partial<ReceivedMail>) => {
    const received = resend.receive({ to: [story.address], ...mail })
    return { mail: received, ...(await deliver(received)) }
  }
  const reads = reading(() =>
    resend.mails
      .filter(({ from }) => from.includes(story.address))
      .map(({ to, subject, text = '', html = '', headers = {} }) => ({
        to: to.join(),
        subject,
        text,
        html,
        headers,
      })),
  )
  return { ...story, deliver, writes, reads }
}

export const mailgunStory = async (
  app: TestApp,
  mailgun: FakeMailgun,
  options: Record<string, unknown> = {},
) => {
  const { apiKey, signingKey } = mailgun
  const given = {
    config: { provider: 'mailgun' },
    credentials: { apiKey, signingSecret: signingKey },
    ...options,
  }
  const story = await connected(app, given)
  const deliver = (mail: RoutedMail, changes: MailgunPostChanges = {}) =>
    delivered(mailgun.post(story.postUrl, { recipient: story.address, ...mail }, changes))
  const headersOf = (mail: Record<string, string>) =>
    Object.fromEntries(
      Object.entries(mail).flatMap(([name, value]) =>
        name.startsWith('h:') ? [[name.slice(2), value]] : [],
      ),
    )
  const reads = reading(() =>
    mailgun.mails
      .filter(({ from }) => from!.includes(story.address))
      .map((mail) => ({
        to: mail.to!,
        subject: mail.subject!,
        text: mail.text!,
        html: mail.html!,
        headers: headersOf(mail),
      })),
  )
  return { ...story, deliver, reads }
}

/** An answer of ours, as the program of a person quotes it. */
export const quoting = (answer: string) =>
  `\n\nOn Mon, Nov 23, 2026 at 10:00 AM Agent <agent@example.com> wrote:\n\n${answer.replaceAll(/^/gm, '> ')}\n`
