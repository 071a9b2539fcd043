/** How much of what is allowed a text uses, its bytes and lines, and its mark. */
import { quantityOf } from '../../parts/many.ts'
import type { TextCheck } from './checks.ts'
import { markOf } from './mark.ts'

const RADIUS = 8
const AROUND = 2 * Math.PI * RADIUS

const Ring = ({ share }: { share: number }) => (
  <svg
    className={`ring ${share > 1 ? 'is-over' : ''}`}
    viewBox="0 0 20 20"
    width="20"
    height="20"
    aria-hidden="true"
  >
    <circle cx="10" cy="10" r={RADIUS} />
    <circle
      className="ring-used"
      cx="10"
      cy="10"
      r={RADIUS}
      strokeDasharray={`${Math.min(share, 1) * AROUND} ${AROUND}`}
      transform="rotate(-90 10 10)"
    />
  </svg>
)

interface CountProps {
  id: string
  check: TextCheck
  /** The server's count, where the browser has none. */
  counted: number
  /** Undefined while the mark of what is typed is not known. */
  hash: string | undefined
}

export const Count = ({ id, check, counted, hash }: CountProps) => {
  const length = check.length ?? counted
  return (
    <p className="post-foot soft" id={id}>
      <Ring share={length / check.limit} />
      <span className={length > check.limit ? 'is-over' : undefined}>
        <strong>{length.toLocaleString('en')}</strong> of {check.limit.toLocaleString('en')}
      </span>
      <span>{quantityOf(check.bytes, 'byte')}</span>
      <span>{quantityOf(check.lines, 'line')}</span>
      <span className="mono mark-of" title={hash}>
        {markOf(hash) || '#…'}
      </span>
    </p>
  )
}
