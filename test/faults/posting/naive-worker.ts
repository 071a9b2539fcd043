/**
 * Posting as it is often done, for comparison: due items are claimed with a lease and sent, those
 * answered are marked, and when a lease has expired the item is sent again. Runs as a process of
 * its own, which a harness kills.
 */
import postgres from 'postgres'
import { createLog } from '#kernel/log'
import { parseFaults } from '#port/network/sandbox/faults'
import { openSandboxStore } from '#port/network/sandbox/rows'
import { createSandbox } from '#port/network/sandbox/sandbox'
import type { NaiveAccount } from './naive-pds.ts'

interface Claimed {
  id: string
  account_id: string
  body: string
}

const LEASE_MS = 3_000
const DEADLINE_MS = 1_000
const AT_ONCE = 8
const IDLE_MS = 50

const options = JSON.parse(process.env.NAIVE_DATABASE ?? '{}')
const sql = postgres({ ...options, max: 1, onnotice: () => {} })
await using store = openSandboxStore(options)
const network = createSandbox({
  store,
  faults: parseFaults(process.env.SANDBOX_FAULTS ?? ''),
  log: createLog('silent'),
})

const inSandbox = async ({ id, account_id, body }: Claimed): Promise<boolean> => {
  const account = { id, externalId: account_id, handle: '' }
  const request = {
    account,
    text: body,
    attemptId: id,
    key: null,
    madeAt: new Date(),
    deadlineMs: DEADLINE_MS,
  }
  return (await network.publish(request, AbortSignal.timeout(DEADLINE_MS))).kind === 'posted'
}

/** Under a key that the server chooses. */
const asRecord = async (pds: string, { account_id, body }: Claimed): Promise<boolean> => {
  const { did: repo, token }: NaiveAccount = JSON.parse(account_id)
  const collection = 'app.bsky.feed.post'
  const record = { $type: collection, text: body, createdAt: new Date().toISOString() }
  const sent = fetch(`${pds}/xrpc/com.atproto.repo.createRecord`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
    body: JSON.stringify({ repo, collection, record }),
    signal: AbortSignal.timeout(DEADLINE_MS),
  })
  return await sent.then(
    ({ ok }) => ok,
    () => false,
  )
}

const { NAIVE_PDS } = process.env
const publish = (item: Claimed): Promise<boolean> =>
  NAIVE_PDS ? asRecord(NAIVE_PDS, item) : inSandbox(item)

const claim = () => sql<Claimed[]>`
  update naive.item set lease_until = now() + ${LEASE_MS} * interval '1 ms' where id in
    (select id from naive.item where not posted and due_at <= now()
      and (lease_until is null or lease_until < now()) limit ${AT_ONCE} for update skip locked)
  returning id, account_id, body`

for (;;) {
  const claimed = await claim()
  const answered = await Promise.all(
    claimed.map(async (item) => ((await publish(item)) ? [item.id] : [])),
  )
  await sql`update naive.item set posted = true where id = any(${answered.flat()}::uuid[])`
  if (claimed.length === 0) await Bun.sleep(IDLE_MS)
}
