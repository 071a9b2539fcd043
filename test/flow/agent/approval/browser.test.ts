/**
 * The page of an approval in a real Chromium: a person signs in, changes the arguments, approves,
 * and sees the decision.
 */
import { describe, expect, test } from 'bun:test'
import { makeApproval } from '#test/support/agent/records'
import { browserPath, openBrowser } from '#test/support/http/browser'
import { expectNoFlaws, flawsOf, tabTo } from '#test/support/http/look'
import { joinAs, PASSWORD } from '#test/support/people'
import { use, useSharedApp } from '#test/support/use'

const path = browserPath()

describe.skipIf(!path)('in a browser', () => {
  const app = useSharedApp()
  const chromium = use(openBrowser)

  test('a person approves with changed arguments, with the keyboard alone', async () => {
    const { email } = await joinAs(app)
    const args = { kind: 'worked', note: 'Numbers' }
    const subject = {
      records: [],
      account: null,
      text: `${'long'.repeat(60)}\n\nline`,
      sha256: 'ab'.repeat(32),
    }
    const { id } = await makeApproval(
      { app, tenantId: app.tenantId },
      { tool_name: 'growth_add_learning', arguments: args, subject },
    )
    const page = await chromium.newPage()
    const complaints: string[] = []
    page.on('console', (message) => complaints.push(message.text()))
    page.setDefaultTimeout(30_000)
    await page.goto(`${app.url}/approvals/${id}`)
    await tabTo(page, 'Email')
    await page.keyboard.type(email)
    await tabTo(page, 'Password')
    await page.keyboard.type(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Approve this?' }).waitFor()
    await expectNoFlaws(page, 'approval')
    const tree = await page.locator('body').ariaSnapshot()
    const fields = ['Text', 'Other arguments', 'Reason for rejecting (optional)'].map(
      (name) => `textbox "${name}"`,
    )
    for (const line of ['main', ...fields, 'button "Approve"', 'button "Reject"'])
      expect(tree).toContain(line)
    await tabTo(page, 'Other arguments')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('{"kind": "worked"')
    await tabTo(page, 'Approve')
    await page.keyboard.press('Enter')
    await page.getByText('Arguments must be a JSON object').first().waitFor()
    expect(await page.locator(':focus').getAttribute('role')).toBe('alert')
    expect(await page.getByLabel('Other arguments').inputValue()).toBe('{"kind": "worked"')
    await expectNoFlaws(page, 'approval-wrong')
    await tabTo(page, 'Text')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('Questions')
    await tabTo(page, 'Other arguments')
    await page.keyboard.press('Control+A')
    await page.keyboard.type('{"kind": "worked"}')
    await tabTo(page, 'Approve')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Approved' }).waitFor()
    expect(await page.getByRole('main').innerText()).toContain(
      'Approved with changed arguments by Ann',
    )
    await expectNoFlaws(page, 'approval-approved')
    const [row] =
      await app.owner`select status, arguments, edited from agent_approval where id = ${id}`
    expect(row).toEqual({
      status: 'approved',
      arguments: { kind: 'worked', note: 'Questions' },
      edited: true,
    })
    // The browser itself reports the form that was refused.
    expect(complaints.filter((one) => !one.includes('400 (Bad Request)'))).toEqual([])
  })

  test('the check for flaws finds each flaw of a bad page', async () => {
    const page = await chromium.newPage({ viewport: { width: 320, height: 800 } })
    const grey =
      '<p style="color:#999">Pale</p><input name="q"><a href="#gone">x</a><button style="height:20px">b</button><h1>a</h1><h3>b</h3>'
    await page.setContent(`<title>Other</title><div style="width:900px">${grey}</div>`)
    expect(await flawsOf(page)).toEqual([
      ...[
        'the page names no language',
        'the title is Other',
        'there is no main part',
        'headings leave levels out: 1,3',
      ],
      ...[
        'q has no label',
        'q does not say what it is for',
        'a link leads to #gone, which is not there',
        'b is small to hit',
      ],
      ...[expect.stringMatching(/^9\d\d pixels wide$/), 'Pale has a contrast of 2.85'],
    ])
  })
})
