/**
 * A connection of the dev channel, and headers as a developer's program signs them: with the
 * library of Standard Webhooks.
 */
import { Webhook } from 'standardwebhooks'
import { newId } from '#kernel/ids'
import type { OpenConnection } from '#port/channel/channel'
import { newWebhookSecret } from '#port/webhook'

export const devConnection = (given: Partial<OpenConnection> = {}): OpenConnection => ({
  id: newId(),
  routingKey: 'desk',
  config: {},
  credentials: { secret: newWebhookSecret() },
  ...given,
})

interface Signing {
  secret: string
  at?: Date
  /** The webhook-id. */
  id?: string
}

/** Headers that sign this text. */
export const devHeaders = (
  body: string,
  { secret, at = new Date(), id = newId() }: Signing,
): Record<string, string> => ({
  'content-type': 'application/json',
  'webhook-id': id,
  'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
  'webhook-signature': new Webhook(secret).sign(id, at, body),
})
