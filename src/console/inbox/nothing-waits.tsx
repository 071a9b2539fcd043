/** An empty inbox: what goes out next, and how to have something to decide. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { errorWords } from '../api/errors.ts'
import { command, queryClient, useRead } from '../api/queries.ts'
import { callOperation } from '../api/request.ts'
import { notify } from '../frame/notices.ts'
import { ActionButton } from '../parts/action.tsx'
import { Empty } from '../parts/states.tsx'
import { When } from '../parts/when.tsx'
import { writesOne } from './write-one.tsx'

const HOUR_MS = 3_600_000
const AHEAD_MS = 14 * 24 * HOUR_MS
/** Where no stream of hints stands. */
const POLL_MS = 5_000

/** The same for an hour, so that it is read once. */
const windowNow = () => {
  const from = Math.floor(Date.now() / HOUR_MS) * HOUR_MS
  return { from: new Date(from).toISOString(), to: new Date(from + AHEAD_MS).toISOString() }
}

const NextPost = () => {
  const { data } = useRead('growth.calendar.get', windowNow())
  const now = new Date().toISOString()
  const next = data?.entries.find(({ at, item }) => item?.status === 'approved' && at > now)
  if (!data) return null
  if (!next?.item) return <p className="soft">Nothing goes out in the next two weeks.</p>
  return (
    <p className="soft">
      Next, <When at={next.at} />: <span dir="auto">{next.item.title ?? next.item.excerpt}</span>
    </p>
  )
}

const SETTLED = ['ready', 'failed']

/** How far a batch is; its drafts stand in the list as soon as they are there. */
const Progress = ({ id }: { id: string }) => {
  const { data } = useQuery({
    queryKey: ['growth.batches.get', { id }],
    queryFn: ({ signal }) => callOperation('growth.batches.get', { id }, { signal }),
    refetchInterval: ({ state }) =>
      SETTLED.includes(state.data?.batch.status ?? '') ? false : POLL_MS,
  })
  const batch = data?.batch
  if (!batch) return null
  if (batch.status === 'failed')
    return (
      <output>
        It failed: <bdi>{batch.error ?? 'no reason is known'}</bdi>. The posts are back in the
        quota.
      </output>
    )
  if (batch.status === 'ready')
    return (
      <output>
        {batch.delivered} of {batch.requested} drafted. <bdi>{batch.shortfall}</bdi>
      </output>
    )
  return (
    <output>
      {batch.progress?.done ?? 0} of {batch.progress?.of ?? batch.requested} drafted…
    </output>
  )
}

const COUNT = 5

const useDrafting = () => {
  const [batch, setBatch] = useState<string>()
  const [busy, setBusy] = useState(false)
  const draft = async (): Promise<void> => {
    setBusy(true)
    try {
      setBatch((await command('growth.batches.create', { count: COUNT })).batch.id)
      await queryClient.invalidateQueries({ queryKey: ['agent.inbox.list'] })
    } catch (cause) {
      notify({ says: errorWords(cause), tone: 'bad' })
    }
    setBusy(false)
  }
  return { batch, busy, draft }
}

const ToBegin = () => {
  const { batch, busy, draft } = useDrafting()
  return (
    <>
      <NextPost />
      {batch !== undefined && <Progress id={batch} />}
      <div className="dialog-actions">
        <ActionButton calls="growth.items.create" act={() => writesOne.set(true)}>
          Write one
        </ActionButton>
        <ActionButton calls="growth.batches.create" tone="go" busy={busy} act={() => void draft()}>
          Draft five
        </ActionButton>
      </div>
    </>
  )
}

/** `clear`: shows all again; undefined if nothing is left out. */
export const NothingWaits = ({ clear }: { clear: (() => void) | undefined }) =>
  clear ? (
    <Empty title="Nothing waits with these filters">
      <button type="button" className="action plain" onClick={clear}>
        Clear the filters
      </button>
    </Empty>
  ) : (
    <Empty title="Nothing waits for you">
      <ToBegin />
    </Empty>
  )
