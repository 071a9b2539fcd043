/** Secrets and codes that the server shows once, and ways to take them along. */
import { type ReactNode, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'
import { notify } from '../frame/notices.ts'

/**
 * What is on the screen alone: in no storage and no cache. It is gone as soon as the page is left,
 * also from the copy of it that a browser keeps for its Back button.
 */
export const useShownOnce = <T,>(): [T | undefined, (next: T | undefined) => void] => {
  const [shown, setShown] = useState<T>()
  useEffect(() => {
    const drop = (): void => flushSync(() => setShown(undefined))
    window.addEventListener('pagehide', drop)
    return () => window.removeEventListener('pagehide', drop)
  }, [])
  return [shown, setShown]
}

/** Plain http in a LAN has no clipboard for scripts: there, the selected text is copied. */
const copy = async (text: string, shown: HTMLElement): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    getSelection()?.selectAllChildren(shown)
    return document.execCommand('copy')
  }
}

interface CopiedProps {
  /** `Key`, `MCP configuration`. */
  title: string
  text: string
  /** What it is for. */
  children?: ReactNode
  className?: string
}

/** A text and a button that copies it as it stands. */
export const Copied = ({ title, text, children, className = '' }: CopiedProps) => {
  const ref = useRef<HTMLElement>(null)
  const take = async () => {
    const done = await copy(text, ref.current!)
    notify(
      done
        ? { says: `Copied: ${title}` }
        : { says: 'It is selected. Copy it with the keys of your system.', tone: 'care' },
    )
  }
  return (
    <div className={`copied ${className}`}>
      <div className="copied-head">
        <h4>{title}</h4>
        <button
          type="button"
          className="action plain"
          aria-label={`Copy: ${title}`}
          onClick={() => void take()}
        >
          Copy
        </button>
      </div>
      {children && <p className="soft">{children}</p>}
      <pre>
        <code ref={ref}>{text}</code>
      </pre>
    </div>
  )
}
