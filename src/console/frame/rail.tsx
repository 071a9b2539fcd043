/** Places, automation and the person: at the side of a desk, at the bottom of a phone. */
import { Icon } from '../parts/icons.tsx'
import { waitingWords } from '../parts/many.ts'
import { useStore } from '../parts/store.ts'
import { PlaceLink } from '../router/router.tsx'
import { AutomationState } from './automation.tsx'
import { LiveLine } from './banners.tsx'
import { PersonMenu } from './person.tsx'
import { railPlaces } from './places.ts'
import { waitingCount } from './waiting.ts'
import { WorkspaceSwitch } from './workspace.tsx'

const Places = ({ page }: { page: string | undefined }) => {
  const waiting = useStore(waitingCount) ?? 0
  return (
    <ul className="places">
      {railPlaces.map((place) => (
        <li key={place.page}>
          <PlaceLink href={place.href} aria-current={place.page === page ? 'page' : undefined}>
            <Icon name={place.icon} />
            <span>{place.says}</span>
            {place.page === 'inbox' && waiting > 0 && (
              <span className="count">
                {waitingWords(waiting)}
                <span className="unseen"> waiting</span>
              </span>
            )}
          </PlaceLink>
        </li>
      ))}
    </ul>
  )
}

const Mark = () => (
  <svg className="mark" viewBox="0 0 24 24" width="22" height="22" aria-hidden="true">
    <rect width="24" height="24" rx="5" />
    <path d="M6 18c5 0 9-2 9-6s-5-4-5-1 7 2 8-5" />
  </svg>
)

export const Rail = ({ page, openPalette }: { page: string | undefined; openPalette(): void }) => (
  <header className="rail">
    <div className="rail-top">
      <Mark />
      <WorkspaceSwitch />
      <button
        type="button"
        className="icon-button"
        aria-label="Places and commands"
        aria-keyshortcuts="Control+K Meta+K"
        onClick={openPalette}
      >
        <Icon name="search" />
      </button>
    </div>
    <nav aria-label="Places">
      <Places page={page} />
    </nav>
    <div className="rail-foot">
      <LiveLine />
      <AutomationState />
      <PersonMenu />
    </div>
  </header>
)
