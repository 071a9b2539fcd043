/** Why a draft is rejected: one of four reasons, a typed one, or none. */
import { useEffect, useState } from 'react'
import type { ShortcutId } from '../../keys/keys.ts'
import { ActionButton } from '../../parts/action.tsx'
import { createStore } from '../../parts/store.ts'

/** Whether they are on the screen: digits then choose among them, and nothing else. */
export const asksReason = createStore(false)

const REASONS: readonly (readonly [ShortcutId, string])[] = [
  ['reason1', 'Not true'],
  ['reason2', 'Not our voice'],
  ['reason3', 'Said before'],
  ['reason4', 'Wrong moment'],
]

interface ReasonsProps {
  choose(reason: string | undefined): void
  cancel(): void
}

export const Reasons = ({ choose, cancel }: ReasonsProps) => {
  const [typed, setTyped] = useState('')
  useEffect(() => {
    asksReason.set(true)
    return () => asksReason.set(false)
  }, [])
  return (
    <form
      className="reasons"
      aria-label="Why it is rejected"
      onSubmit={(event) => {
        event.preventDefault()
        choose(typed.trim() || undefined)
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Escape') return
        event.stopPropagation()
        cancel()
      }}
    >
      {REASONS.map(([shortcut, says]) => (
        <ActionButton key={shortcut} shortcut={shortcut} act={() => choose(says)}>
          {says}
        </ActionButton>
      ))}
      <input
        className="field"
        name="reason"
        autoComplete="off"
        aria-label="Another reason"
        placeholder="Another reason"
        maxLength={2_000}
        value={typed}
        onChange={({ target }) => setTyped(target.value)}
      />
      <button type="submit" className="action harm">
        {typed.trim() ? 'Reject' : 'Reject without a reason'}
      </button>
      <button type="button" className="action plain" onClick={cancel}>
        Cancel
      </button>
    </form>
  )
}
