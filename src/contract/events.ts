/** Kinds of events that a workspace's endpoint can be told of. The first three are the API document's, the rest are ours. */
export const events = [
  { type: 'growth.batch.settled', summary: 'A batch is ready or failed; carries the same error code as the record.' },
  { type: 'growth.approval.requested', summary: 'Drafts wait for approval, or a post in doubt waits for a person to look.' },
  { type: 'growth.item.posted', summary: 'An item was posted, in whatever way.' },
  { type: 'growth.item.returned', summary: 'A due item was not sent and is off the schedule; carries the reason.' },
  { type: 'growth.item.failed', summary: 'The network refused an item, or could not be reached for an hour.' },
  { type: 'webhook.test', summary: 'Sent when somebody tries the endpoint, whatever its allow-list says.' },
] as const

export const eventKinds = events.map(({ type }) => type)
