import { records } from '#contract/records/all'
import type { Field } from '#contract/records/record'

/** The reasons that the records declare. */
const declared = records.flatMap(({ table, fields }) =>
  Object.entries<Field>(fields).flatMap(([name, { unexported }]) =>
    unexported === undefined ? [] : [[`${table}.${name}`, unexported]],
  ),
)

/** Tables and columns of tenants that are not exported, with the reason. */
export const notExported: Record<string, string> = {
  ...Object.fromEntries(declared),
  work: 'what the server has to do next; items, batches and articles show it too',
  idempotency: 'stored answers to earlier requests, kept for a day',
  counter: 'use within a period, as the server counts it',
  actor: 'which process serves the workspace',
  redraft:
    'requests to write an item again; what came of them are its revisions, and the audit has the hints',
  file: 'where the bytes of artifacts are; artifacts are exported',
  file_block: 'bytes of artifacts, each of which has its download',
  account_authorization: 'sign-ins to accounts, for ten minutes',
  resident_post: 'what invented people of the sandbox were made to say, for practice',
  session: 'sign-ins of its people, which belong to them and not to the workspace',
  inbound_route: 'finds the workspace of a webhook rule, a share or a channel; all are exported',
  item_print: 'follows from the texts of items, which are exported',
  channel_link_code: 'secrets, for a quarter of an hour',
  item_word: 'follows from the items, which are exported',
  item_word_move: 'which words of items are still to be moved',
  document_word: 'follows from the documents, which are exported',
  'tenant.webhook': 'follows from the webhook, which is exported',
  'tenant.awaited': 'follows from the rules, which are exported',
  'tenant.networks': 'follows from the connections, which are exported',
  'tenant.erasure_failures': 'how often its erasure has failed',
  'tenant.erasure_rests_until': 'when its erasure is tried again',
  'tenant.erasure_error': 'what its erasure last failed of',
  'webhook_endpoint.secret': 'a secret',
  'webhook_endpoint.previous_secret': 'a secret',
  'webhook_endpoint.previous_until': 'belongs to a secret',
}
