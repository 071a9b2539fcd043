/** The three states of everything that is read: loading, empty, and failed. */
import { type ReactNode, useEffect, useState } from 'react'
import { ApiError, errorWords, failedRequestId } from '../api/errors.ts'

const BONES_AFTER_MS = 120

/** Grey lines where the content will be, unless it is there at once. */
export const Bones = ({ lines = 4, says = 'Loading' }: { lines?: number; says?: string }) => {
  const [shown, setShown] = useState(false)
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), BONES_AFTER_MS)
    return () => clearTimeout(timer)
  }, [])
  if (!shown) return null
  return (
    <output className="bones" aria-label={says}>
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the lines are all alike
        <span key={index} className="bone" />
      ))}
    </output>
  )
}

/** What belongs here, and one thing to do about it. */
export const Empty = ({ title, children }: { title: string; children?: ReactNode }) => (
  <div className="empty">
    <p className="empty-title">{title}</p>
    {children}
  </div>
)

const useCountdown = (seconds: number | undefined): number => {
  const [left, setLeft] = useState(seconds ?? 0)
  useEffect(() => {
    setLeft(seconds ?? 0)
    const timer = setInterval(() => setLeft((before) => Math.max(0, before - 1)), 1_000)
    return () => clearInterval(timer)
  }, [seconds])
  return left
}

interface FailedProps {
  cause: unknown
  /** What could not be done: `The inbox could not be read.` */
  what: string
  retry?: (() => void) | undefined
  /** Since when what is shown is old, in milliseconds; undefined if nothing is shown. */
  since?: number | undefined
}

const timeOf = (at: number): string =>
  new Date(at).toLocaleTimeString('en-GB', { hour: '2-digit', minute: '2-digit' })

/** Beside what is known already, which stays on the screen. */
export const Failed = ({ cause, what, retry, since }: FailedProps) => {
  const left = useCountdown(cause instanceof ApiError ? cause.retryAfter : undefined)
  const requestId = failedRequestId(cause)
  // What is not there is not there the next time either.
  const isGone = cause instanceof ApiError && cause.status === 404
  return (
    <div className="failed" role="alert">
      <p>
        <strong>{what}</strong> <bdi>{errorWords(cause)}</bdi>
        {since !== undefined && ` What is shown is of ${timeOf(since)}.`}
      </p>
      {retry && !isGone && (
        <button type="button" className="action plain" disabled={left > 0} onClick={retry}>
          {left > 0 ? `Try again in ${left} s` : 'Try again'}
        </button>
      )}
      {requestId !== undefined && (
        <details>
          <summary>Details</summary>
          <p className="mono">Request {requestId}</p>
        </details>
      )}
    </div>
  )
}

interface ReadState {
  isPending: boolean
  isError: boolean
  error: unknown
  data: unknown
  dataUpdatedAt: number
  refetch(): unknown
}

/** Shows one of the states of a read, and the content as soon as there is some. */
export const ReadView = ({
  read,
  what,
  lines,
  children,
}: {
  read: ReadState
  /** `The inbox`. */
  what: string
  lines?: number
  children: ReactNode
}) => (
  <>
    {read.isError && (
      <Failed
        cause={read.error}
        what={`${what} could not be read.`}
        retry={() => void read.refetch()}
        since={read.data === undefined ? undefined : read.dataUpdatedAt}
      />
    )}
    {read.isPending && (
      <Bones {...(lines !== undefined && { lines })} says={`${what} is loading`} />
    )}
    {read.data !== undefined && children}
  </>
)
