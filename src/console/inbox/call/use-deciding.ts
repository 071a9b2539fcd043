/** Allowing and refusing a call, and what the server says to that. */
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ApiError, errorWords, type Refusal } from '../../api/errors.ts'
import { command } from '../../api/queries.ts'
import { notify } from '../../frame/notices.ts'
import { followCall } from '../followed.ts'
import { briefly, type CallToDecide } from './state.ts'
import type { CallEdit } from './use-edit.ts'

const PREFIX = 'arguments.'

/** What is wrong with the arguments, by field; the name is empty for all of them. */
const flawsOf = ({ refusal }: ApiError): Record<string, string> =>
  Object.fromEntries(
    (refusal.details ?? []).map(({ path, message }) =>
      path.startsWith(PREFIX) ? [path.slice(PREFIX.length), message] : ['', `${path} ${message}`],
    ),
  )

/** The decision holds for the call that is on the screen alone. */
const seen = ({ id, sha256 }: CallToDecide) => ({ id, expect_sha256: sha256 })

const allowCall = async (
  call: CallToDecide,
  { given, remember }: { given: Record<string, unknown> | undefined; remember: boolean },
): Promise<void> => {
  await command('agent.approvals.approve', {
    ...seen(call),
    ...(given && { arguments: given }),
    ...(remember && { remember: 'workspace' as const }),
  })
  followCall({ id: call.id, summary: call.summary })
}

const refuseCall = (call: CallToDecide, reason: string) =>
  command('agent.approvals.reject', { ...seen(call), ...(reason !== '' && { reason }) })

interface Decided {
  /** To the next entry. */
  next(): void
  /** Whether this tab is deciding: what it does is no news here. */
  own(deciding: boolean): void
}

export const useCallDecision = (call: CallToDecide, edit: CallEdit, { next, own }: Decided) => {
  const client = useQueryClient()
  const [busy, setBusy] = useState(false)
  const [flaws, setFlaws] = useState<Record<string, string>>({})
  const [stale, setStale] = useState<Refusal>()

  const fail = (cause: unknown): void => {
    if (cause instanceof ApiError && cause.code === 'invalid_input') setFlaws(flawsOf(cause))
    if (cause instanceof ApiError && cause.reason === 'stale_call') {
      setStale(cause.refusal)
      notify({ says: 'It has changed since it was shown. Nothing was done', tone: 'care' })
    } else notify({ says: errorWords(cause), about: briefly(call), tone: 'bad' })
  }

  const send = async (act: () => Promise<unknown>, says: string): Promise<void> => {
    if (busy) return
    setBusy(true)
    setFlaws({})
    own(true)
    try {
      await act()
      edit.drop()
      notify({ says, about: briefly(call) })
      next()
    } catch (cause) {
      own(false)
      fail(cause)
    }
    setBusy(false)
    await client.invalidateQueries()
  }

  const allow = (remember: boolean): void => {
    const read = edit.read()
    if (read && Object.keys(read.flaws).length > 0) {
      setFlaws(read.flaws)
      notify({ says: 'Some arguments cannot be meant', tone: 'care' })
    } else
      void send(() => allowCall(call, { given: read?.arguments, remember }), 'Allowed, running…')
  }

  const refuse = (reason: string): void =>
    void send(() => refuseCall(call, reason.trim()), 'Refused. The agent is told')

  return { busy, flaws, stale, allow, refuse }
}
