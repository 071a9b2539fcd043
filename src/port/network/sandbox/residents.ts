/** The sandbox's residents and what they say. All invented; nobody real is meant. */

export interface Resident {
  handle: string
  /** The approximate number of people who see a post of theirs. */
  reach: number
  /** One post in each period of this length, at some moment within it. */
  everyHours: number
  statements: readonly string[]
  /** Appended to some statements. */
  asides: readonly string[]
  questions: readonly string[]
  /** `@` stands for a connected account. */
  addresses: readonly string[]
}

export const residents: readonly Resident[] = [
  {
    handle: 'late_freight_lena',
    reach: 9_000,
    everyHours: 5,
    statements: [
      'Two lorries waited at the wrong gate this morning. The address was right; the map was three years old.',
      'A delivery window of four hours is not a window. It is a wall with a door somewhere.',
      'We call customers before a late delivery, not after. Complaints fell within a month.',
      'The cheapest carrier was the dearest one by Friday.',
      'Nobody reads the delivery note until something is missing from the pallet.',
      'Our drivers know the delays an hour before the system does. So now we ask the drivers.',
    ],
    asides: [
      'That is the whole trick.',
      'It took us a year to see it.',
      'Small things.',
      'Ask anybody in dispatch.',
    ],
    questions: [
      'What do you tell a customer when the delivery is late and you do not know why yet?',
      'How do you measure late deliveries: by the promise, or by the plan?',
      'Who in your team owns the call to the customer when a lorry breaks down?',
    ],
    addresses: [
      '@ you wrote about this once. How did it end?',
      'Reading @ on deliveries and nodding.',
    ],
  },
  {
    handle: 'small_shop_sol',
    reach: 2_500,
    everyHours: 7,
    statements: [
      'Raised prices by six percent. Lost two customers, slept better.',
      'The shop window sells more than the newsletter. Both beat the discount.',
      'A regular asked why we close on Mondays. Because Tuesday deserves somebody rested.',
      'Counted stock by hand again. Found the mistake that the software was proud of.',
      'First hire in three years starts on Thursday. The coffee machine is nervous.',
    ],
    asides: [
      'No regrets.',
      'More on that another day.',
      'I should have known.',
      'The accountant agrees.',
    ],
    questions: [
      'Do you tell customers before you raise prices, or just do it?',
      'What is the one number of your shop that you look at every day?',
      'Small shops: who answers your messages on a Sunday?',
    ],
    addresses: [
      '@ what would you do with a customer who always pays late?',
      'Learned that one from @, it works.',
    ],
  },
  {
    handle: 'ships_on_tuesday',
    reach: 21_000,
    everyHours: 9,
    statements: [
      'Deleted a feature that eleven people used. Nine of them thanked us for the faster page.',
      'Every incident review ends with a checklist. Every checklist begins with an incident.',
      'We moved releases from Friday to Tuesday and called it innovation.',
      'The best onboarding change this year was taking two fields out of a form.',
      'A team of four needs no roadmap tool. It needs a wall and a habit.',
      'Documentation is a product. Ours has one reader so far, and she found three errors.',
    ],
    asides: [
      'Worth it.',
      'Nobody noticed, which was the point.',
      'We wrote it down this time.',
      'Your team may differ.',
    ],
    questions: [
      'What was the last thing you removed from your product, and did anybody miss it?',
      'How small can a software team be before on-call stops working?',
      'Do you write the announcement before or after you build the feature?',
    ],
    addresses: [
      '@ has the better answer to this, I think.',
      '@ do you still release twice a week?',
    ],
  },
  {
    handle: 'ledger_lou',
    reach: 1_200,
    everyHours: 11,
    statements: [
      'An invoice sent the same day is paid nine days sooner. I keep a list.',
      'Cash flow is a calendar, not a spreadsheet.',
      'The founder who knows the margin of each product asks different questions.',
      'Receipts in a shoebox are still receipts. They are also still in a shoebox.',
    ],
    asides: [
      'Bookkeeping is mostly kindness to next month.',
      'Every year.',
      'I will say it again in April.',
    ],
    questions: [
      'When did you last look at the margin of your oldest product?',
      'Who chases late payments at your company, and do they like it?',
    ],
    addresses: ['@ how do you plan for a bad quarter?'],
  },
  {
    handle: 'bike_bench_oda',
    reach: 4_800,
    everyHours: 8,
    statements: [
      'Repaired a bicycle older than I am. It complained less.',
      'Customers forgive a wait when somebody tells them how long it is.',
      'A clean workbench is marketing. People photograph it.',
      'Turned away a repair today, because honest advice brings them back in spring.',
    ],
    asides: ['Workshop wisdom.', 'True of more than bicycles.', 'My knees agree.'],
    questions: [
      'What do your customers photograph in your shop?',
      'How do you tell somebody that a repair is not worth the money?',
    ],
    addresses: ['@ come by, the kettle is on.', 'I quoted @ to a customer today.'],
  },
]
