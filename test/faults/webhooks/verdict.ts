/** Compares what a receiver got with the events that were written. */
import type postgres from 'postgres'
import { Webhook } from 'standardwebhooks'
import type { Received } from '#test/support/http/receiver'

/** An event, in the order of writing. */
export interface Written {
  id: string
  tenant_id: string
  subject: string | null
}

/** Copies everything that is written to the outbox, so that its removal does not matter. */
export const recordWritten = async (owner: postgres.Sql): Promise<void> => {
  await owner`create table written (id uuid primary key, tenant_id uuid not null,
    type text not null, subject text, created_at timestamptz not null)`
  await owner.unsafe(`create function write_down() returns trigger language plpgsql security definer as $$ begin
    insert into public.written values (new.id, new.tenant_id, new.type, new.subject, new.created_at);
    return null; end $$`)
  await owner`create trigger write_down after insert on outbox for each row execute function
    write_down()`
}

/** A request, in the order of arrival. */
export interface Heard extends Pick<Received, 'headers' | 'body'> {
  /** Answered with a 2xx. */
  accepted: boolean
  /** Signed for the workspace that it names, on arrival. */
  verified: boolean
}

const idOf = ({ headers }: Pick<Heard, 'headers'>): string => String(headers['webhook-id'])

/** Checks a request on arrival; `secret` is that of the workspace named in the body. */
export const verifies = (
  { headers, body }: Pick<Heard, 'headers' | 'body'>,
  secret: string | undefined,
): boolean => {
  try {
    new Webhook(secret ?? '').verify(body, headers as Record<string, string>)
    return headers['x-webhook-signature'] === headers['webhook-signature']
  } catch {
    return false
  }
}

/** Counts requests that arrive after a later event of the same record. */
const outOfOrder = (written: readonly Written[], heard: readonly Heard[]): number => {
  const places = new Map(written.map(({ id, subject }, place) => [id, { subject, place }]))
  const last = new Map<string, number>()
  let wrong = 0
  for (const one of heard) {
    const known = places.get(idOf(one))
    if (!known?.subject) continue
    if (known.place < (last.get(known.subject) ?? -1)) wrong++
    last.set(known.subject, Math.max(known.place, last.get(known.subject) ?? -1))
  }
  return wrong
}

/** How often each rule is broken. */
export const brokenDeliveries = (
  written: readonly Written[],
  heard: readonly Heard[],
): Record<string, number> => {
  const accepted = new Set(heard.filter((one) => one.accepted).map(idOf))
  const owners = new Map(written.map(({ id, tenant_id }) => [id, tenant_id]))
  const bodies = new Map<string, string>()
  for (const one of heard) if (!bodies.has(idOf(one))) bodies.set(idOf(one), one.body)
  return {
    lost: written.filter(({ id }) => !accepted.has(id)).length,
    'heard, yet never written': heard.filter((one) => !owners.has(idOf(one))).length,
    'sent again with another body, or under an id that is not its own': heard.filter(
      (one) => bodies.get(idOf(one)) !== one.body || JSON.parse(one.body).id !== idOf(one),
    ).length,
    'not signed for its workspace': heard.filter(
      (one) => !one.verified || JSON.parse(one.body).workspace_id !== owners.get(idOf(one)),
    ).length,
    'out of order within a record': outOfOrder(written, heard),
  }
}

/** Requests beyond the first of each event that was accepted. */
export const repeatsOf = (heard: readonly Heard[]): number => {
  const accepted = heard.filter((one) => one.accepted).map(idOf)
  return accepted.length - new Set(accepted).size
}
