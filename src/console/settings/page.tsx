/** The settings: a list of pages, and the one that is chosen. */
import { Suspense, useEffect } from 'react'
import { pageTitle } from '../frame/waiting.ts'
import { Bones } from '../parts/states.tsx'
import { PageBoundary } from '../router/lazy-page.tsx'
import type { PageProps } from '../router/page-props.ts'
import { hrefOf } from '../router/paths.ts'
import { PlaceLink } from '../router/router.tsx'
import { settingsPages } from './pages.tsx'

export const SettingsPage = ({ here }: PageProps) => {
  const chosen =
    settingsPages.find(({ page }) => page === here.place?.params.page) ?? settingsPages[0]!
  useEffect(() => pageTitle.set(`Settings: ${chosen.says}`), [chosen])
  return (
    <>
      <div className="page-head">
        <h1>Settings</h1>
      </div>
      <div className="settings">
        <nav aria-label="Settings">
          <ul>
            {settingsPages.map(({ page, says }) => (
              <li key={page}>
                <PlaceLink
                  href={hrefOf('setting', { page })}
                  aria-current={page === chosen.page ? 'page' : undefined}
                >
                  {says}
                </PlaceLink>
              </li>
            ))}
          </ul>
        </nav>
        <div className="settings-page">
          <PageBoundary key={chosen.page}>
            <Suspense fallback={<Bones />}>
              <chosen.Show />
            </Suspense>
          </PageBoundary>
        </div>
      </div>
    </>
  )
}
