"""Small invented notes in sixteen languages and scripts, and questions about them in other forms of their words."""

from __future__ import annotations

from typing import NamedTuple


class Vault(NamedTuple):
    """`notes`: title -> text. `questions`: question -> (title of its note, words of the line that answers it)."""

    notes: dict[str, str]
    questions: dict[str, tuple[str, str]]


VAULTS = {
    "de": Vault(
        {
            "Zahnarzt": "Am Dienstag war ich beim Zahnarzt. Frau Hellwig hat zwei Füllungen erneuert. Zur nächsten"
            " Kontrolle gehe ich im Herbst.",
            "Fahrrad": "Mein neues Fahrrad ist blau und hat 640 Euro gekostet. Gekauft habe ich es bei Radhaus Nord."
            " Die Bremsen quietschen noch ein wenig.",
            "Werkstatt": "In der Werkstatt wurde die Kette gewechselt. Herr Oettinger verlangte dafür 45 Euro."
            " Die Schläuche waren noch gut.",
            "Wohnung": "Seit Mai leben wir in der Lindenstraße 12 im dritten Stock. Die Miete beträgt 890 Euro."
            " Der Schlüssel zum Keller hängt neben der Tür.",
            "Garten": "Im Garten wachsen Tomaten und zwei Apfelbäume. Die Schnecken fressen den Salat. Gegossen wird"
            " am Abend.",
            "Chor": "Der Chor probt jeden Donnerstag um halb acht in der Matthäuskirche. Das Chorkonzert war am"
            " 5. März 2024. Danach gab es Suppe für alle.",
            "Katze": "Unsere Katze heißt Mimi. Sie bekommt morgens eine halbe Tablette für die Schilddrüse. Den"
            " Tierarzt mag sie nicht.",
        },
        {
            "Was hat mein Fahrrad gekostet?": ("Fahrrad", "640 Euro"),
            "Wo haben die Chöre ihre Proben?": ("Chor", "Matthäuskirche"),
            "Wer hat die Füllung beim Zahnarzt gemacht?": ("Zahnarzt", "Hellwig"),
            "Wie hoch sind die Mieten": ("Wohnung", "890 Euro"),
            "Wo hängen die Schluessel?": ("Wohnung", "neben der Tür"),
            "Wie viele Tabletten kriegt die Katze?": ("Katze", "halbe Tablette"),
            "Was frisst die Schnecke?": ("Garten", "den Salat"),
            "Was war am 5.3.2024?": ("Chor", "5. März 2024"),
            "Wann gab es Chorkonzerte?": ("Chor", "5. März 2024"),
        },
    ),
    "fr": Vault(
        {
            "Dentiste": "Mardi je suis allée chez le dentiste. Madame Vasseur a refait deux plombages. Le prochain"
            " contrôle est en automne.",
            "Vélo": "Mon nouveau vélo est bleu et il a coûté 640 euros. Je l'ai acheté chez Cyclo Nord. Les freins"
            " grincent encore un peu.",
            "Atelier": "À l'atelier on a changé la chaîne. Monsieur Perrault a demandé 45 euros. Les pneus étaient"
            " encore bons.",
            "Logement": "Depuis mai nous habitons rue des Tilleuls, au troisième étage. Le loyer est de 890 euros. La"
            " clé de la cave est près de la porte.",
            "Jardin": "Dans le jardin poussent des tomates et deux pommiers. Les limaces mangent la salade. On arrose"
            " le soir.",
            "Chorale": "La chorale répète tous les jeudis à l'église Saint-Matthieu. Le concert a eu lieu le 5 mars"
            " 2024. Ensuite il y avait de la soupe pour tous.",
            "Chat": "Notre chat s'appelle Mimi. Il prend le matin un demi-comprimé pour la thyroïde. Il n'aime pas le"
            " vétérinaire.",
        },
        {
            "Combien coûte mon vélo ?": ("Vélo", "640 euros"),
            "Combien a coute le velo": ("Vélo", "640 euros"),
            "Où sont les répétitions de la chorale ?": ("Chorale", "Saint-Matthieu"),
            "Qui a fait mon plombage ?": ("Dentiste", "Vasseur"),
            "Quels sont les loyers ?": ("Logement", "890 euros"),
            "Comment s'appellent nos chats ?": ("Chat", "Mimi"),
            "Que mange la limace ?": ("Jardin", "salade"),
            "Que s'est-il passé le 5 mars 2024 ?": ("Chorale", "5 mars 2024"),
        },
    ),
    "es": Vault(
        {
            "Dentista": "El martes fui al dentista. La señora Ibarra me puso dos empastes nuevos. La próxima revisión"
            " es en otoño.",
            "Bicicleta": "Mi bicicleta nueva es azul y costó 640 euros. La compré en Ciclos Norte. Los frenos todavía"
            " chirrían un poco.",
            "Taller": "En el taller cambiaron la cadena. El señor Robles cobró 45 euros. Las ruedas estaban bien.",
            "Piso": "Desde mayo vivimos en la calle de los Tilos, en la tercera planta. El alquiler son 890 euros. La"
            " llave del sótano cuelga junto a la puerta.",
            "Jardín": "En el jardín crecen tomates y dos manzanos. Los caracoles se comen la lechuga. Se riega por la"
            " tarde.",
            "Coro": "El coro ensaya todos los jueves en la iglesia de San Mateo. El concierto fue el 5 de marzo de"
            " 2024. Después hubo sopa para todos.",
            "Gata": "Nuestra gata se llama Mimi. Toma por la mañana media pastilla para el tiroides. No le gusta el"
            " veterinario.",
        },
        {
            "¿Cuánto costaron mis bicicletas?": ("Bicicleta", "640 euros"),
            "¿Dónde son los ensayos del coro?": ("Coro", "San Mateo"),
            "¿Quién me puso el empaste?": ("Dentista", "Ibarra"),
            "cuanto pagamos de alquileres": ("Piso", "890 euros"),
            "¿Cómo se llaman nuestras gatas?": ("Gata", "Mimi"),
            "¿Qué crece en el jardin?": ("Jardín", "tomates"),
            "¿Qué come el caracol?": ("Jardín", "lechuga"),
            "¿Qué pasó el 5 de marzo de 2024?": ("Coro", "5 de marzo de 2024"),
        },
    ),
    "it": Vault(
        {
            "Dentista": "Martedì sono andata dal dentista. La signora Lombardi ha rifatto due otturazioni. Il prossimo"
            " controllo è in autunno.",
            "Bicicletta": "La mia nuova bicicletta è blu ed è costata 640 euro. L'ho comprata da Cicli Nord. I freni"
            " stridono ancora un po'.",
            "Officina": "In officina hanno cambiato la catena. Il signor Ferri ha chiesto 45 euro. Le gomme erano"
            " ancora buone.",
            "Appartamento": "Da maggio abitiamo in via dei Tigli, al terzo piano. L'affitto è di 890 euro. La chiave"
            " della cantina è appesa accanto alla porta.",
            "Giardino": "In giardino crescono pomodori e due meli. Le lumache mangiano l'insalata. Si annaffia la"
            " sera.",
            "Coro": "Il coro prova ogni giovedì nella chiesa di San Matteo. Il concerto è stato il 5 marzo 2024. Dopo"
            " c'era la zuppa per tutti.",
            "Gatta": "La nostra gatta si chiama Mimi. Prende al mattino mezza pastiglia per la tiroide. Il veterinario"
            " non le piace.",
        },
        {
            "Quanto costano le biciclette nuove?": ("Bicicletta", "640 euro"),
            "Dove sono le prove dei cori?": ("Coro", "San Matteo"),
            "Chi ha fatto l'otturazione?": ("Dentista", "Lombardi"),
            "A quanto ammontano gli affitti?": ("Appartamento", "890 euro"),
            "come si chiamano le gatte": ("Gatta", "Mimi"),
            "Cosa mangia la lumaca?": ("Giardino", "insalata"),
            "Cosa c'è stato il 5 marzo 2024?": ("Coro", "5 marzo 2024"),
        },
    ),
    "ru": Vault(
        {
            "Зубной врач": "Во вторник я была у зубного врача. Ольга Мирская поставила две новые пломбы. Следующий"
            " осмотр осенью.",
            "Велосипед": "Мой новый велосипед синий, он стоил сорок тысяч рублей. Я купила его в магазине Север."
            " Тормоза ещё немного скрипят.",
            "Мастерская": "В мастерской поменяли цепь. Андрей Лосев взял за это две тысячи. Шины были ещё хорошие.",
            "Квартира": "С мая мы живём на Липовой улице, на третьем этаже. Аренда стоит шестьдесят тысяч. Ключ от"
            " подвала висит у двери.",
            "Огород": "На огороде растут помидоры и две яблони. Улитки едят салат. Поливаем вечером.",
            "Хор": "Хор репетирует каждый четверг в старой школе. Концерт был 5 марта 2024 года. Потом для всех был"
            " суп.",
            "Кошка": "Нашу кошку зовут Муся. Утром она получает половину таблетки. Ветеринара она не любит.",
        },
        {
            "Сколько стоили велосипеды?": ("Велосипед", "сорок тысяч"),
            "Где проходят репетиции хора?": ("Хор", "в старой школе"),
            "Кто поставил мне пломбу?": ("Зубной врач", "Ольга Мирская"),
            "На каких этажах наша квартира?": ("Квартира", "третьем этаже"),
            "какую таблетку дают кошке": ("Кошка", "половину таблетки"),
            "Что ест улитка?": ("Огород", "салат"),
            "Где висят ключи?": ("Квартира", "у двери"),
            "Что было 5 марта 2024 года?": ("Хор", "5 марта 2024"),
        },
    ),
    "el": Vault(
        {
            "Οδοντίατρος": "Την Τρίτη πήγα στον οδοντίατρο. Η κυρία Βλάχου έβαλε δύο σφραγίσματα. Ο επόμενος έλεγχος"
            " είναι το φθινόπωρο.",
            "Ποδήλατο": "Το καινούργιο ποδήλατο είναι μπλε και κόστισε 640 ευρώ. Το αγόρασα από τον Βορρά. Τα φρένα"
            " τρίζουν ακόμα λίγο.",
            "Συνεργείο": "Στο συνεργείο άλλαξαν την αλυσίδα. Ο κύριος Ράπτης ζήτησε 45 ευρώ. Τα λάστιχα ήταν ακόμα"
            " καλά.",
            "Διαμέρισμα": "Από τον Μάιο μένουμε στην οδό Φιλύρας, στον τρίτο όροφο. Το ενοίκιο είναι 890 ευρώ. Το"
            " κλειδί του υπογείου κρέμεται δίπλα στην πόρτα.",
            "Κήπος": "Στον κήπο μεγαλώνουν ντομάτες και δύο μηλιές. Τα σαλιγκάρια τρώνε τη σαλάτα. Ποτίζουμε το βράδυ.",
            "Χορωδία": "Η χορωδία κάνει πρόβα κάθε Πέμπτη στο παλιό σχολείο. Η συναυλία ήταν στις 5 Μαρτίου 2024."
            " Μετά είχε σούπα για όλους.",
            "Γάτα": "Τη γάτα μας τη λένε Μίμη. Παίρνει το πρωί μισό χάπι. Τον κτηνίατρο δεν τον θέλει.",
        },
        {
            "Πόσο κόστισε το ποδηλατο;": ("Ποδήλατο", "640 ευρώ"),
            "Πού γίνονται οι πρόβες της χορωδίας;": ("Χορωδία", "παλιό σχολείο"),
            "Ποιος έβαλε το σφράγισμα;": ("Οδοντίατρος", "Βλάχου"),
            "Σε ποιον όροφο μένουμε;": ("Διαμέρισμα", "τρίτο όροφο"),
            "ΠΟΥ ΕΙΝΑΙ ΤΑ ΚΛΕΙΔΙΑ": ("Διαμέρισμα", "κλειδί"),
            "Πώς λένε τις γάτες μας;": ("Γάτα", "Μίμη"),
            "Τι τρώει το σαλιγκάρι;": ("Κήπος", "σαλάτα"),
            "Τι έγινε στις 5 Μαρτίου 2024;": ("Χορωδία", "5 Μαρτίου 2024"),
        },
    ),
    "tr": Vault(
        {
            "Diş hekimi": "Salı günü diş hekimine gittim. Hekim Gülay Işıldak iki dolgu yaptı. Bir sonraki kontrol"
            " sonbaharda.",
            "Bisiklet": "Yeni bisikletim mavi ve 640 liraya mal oldu. Onu Kuzey Pedal'dan aldım. Frenler hâlâ biraz"
            " gıcırdıyor.",
            "Tamirci": "Tamirci zinciri değiştirdi. Orhan Usta bunun için 45 lira istedi. Lastikler hâlâ iyiydi.",
            "Daire": "Mayıstan beri Ihlamur Sokağı'nda üçüncü katta oturuyoruz. Kira 890 lira. Bodrumun anahtarı"
            " kapının yanında asılı.",
            "Bahçe": "Bahçede domates ve iki elma ağacı büyüyor. Salyangozlar marulu yiyor. Akşamları suluyoruz.",
            "Koro": "Koro her perşembe eski okulda prova yapıyor. Konser 5 Mart 2024 günü yapıldı. Sonra herkese"
            " çorba vardı.",
            "Kedi": "Kedimizin adı Mimi. Sabahları yarım hap alıyor. Veterineri sevmiyor.",
        },
        {
            "Bisikletler kaç liraydı?": ("Bisiklet", "640 liraya"),
            "Koronun provaları nerede?": ("Koro", "eski okulda"),
            "Dolguyu kim yaptı?": ("Diş hekimi", "Gülay Işıldak"),
            "IŞILDAK NE YAPTI": ("Diş hekimi", "iki dolgu"),
            "Ihlamur sokağında kaçıncı kattayız?": ("Daire", "üçüncü katta"),
            "kiramiz ne kadar": ("Daire", "890 lira"),
            "Kedilerimizin adları ne?": ("Kedi", "Mimi"),
            "Salyangoz ne yiyor?": ("Bahçe", "marulu"),
            "5 Mart 2024'te ne oldu?": ("Koro", "5 Mart 2024"),
        },
    ),
    "ar": Vault(
        {
            "طبيب الأسنان": "يوم الثلاثاء ذهبت إلى طبيب الأسنان. وضعت الدكتورة سلمى حشوتين جديدتين. الفحص القادم في"
            " الخريف.",
            "دراجة": "دراجتي الجديدة زرقاء وكان ثمنها ستمئة يورو. اشتريتها من متجر الشمال. المكابح تصدر صوتا.",
            "ورشة": "في الورشة بدلوا السلسلة. طلب السيد رائد خمسين يورو. العجلات ما زالت جيدة.",
            "شقة": "منذ مايو نسكن في شارع الزيزفون في الطابق الثالث. الإيجار ثمانمئة يورو. مفتاح القبو معلق قرب الباب.",
            "حديقة": "في الحديقة تنمو الطماطم وشجرتا تفاح. القواقع تأكل الخس. نسقي في المساء.",
            "جوقة": "تتدرب الجوقة كل يوم خميس في المدرسة القديمة. كانت الحفلة في 5 مارس 2024. بعد ذلك كان هناك حساء"
            " للجميع.",
            "قطة": "اسم قطتنا ميمي. تأخذ كل صباح نصف حبة دواء. لا تحب الطبيب البيطري.",
        },
        {
            "كم كان ثمن الدراجة؟": ("دراجة", "ستمئة يورو"),
            "أين تتدرب جوقة المدرسة؟": ("جوقة", "المدرسة القديمة"),
            "من وضع الحشوة عند طبيب الأسنان؟": ("طبيب الأسنان", "سلمى"),
            "كم هو إيجار الشقة؟": ("شقة", "ثمانمئة يورو"),
            "اين المفتاح": ("شقة", "قرب الباب"),
            "ما اسم القطة؟": ("قطة", "ميمي"),
            "ماذا تأكل القواقع في حديقتنا؟": ("حديقة", "الخس"),
            "ماذا حدث في 5 مارس 2024؟": ("جوقة", "5 مارس 2024"),
        },
    ),
    "he": Vault(
        {
            "רופא שיניים": "ביום שלישי הייתי אצל רופא השיניים. גברת ברקאי החליפה שתי סתימות. הביקורת הבאה בסתיו.",
            "אופניים": "האופניים החדשים שלי כחולים ועלו 640 שקלים. קניתי אותם בחנות צפון. הבלמים עדיין חורקים קצת.",
            "מוסך": "במוסך החליפו את השרשרת. מר דותן ביקש 45 שקלים. הצמיגים עדיין טובים.",
            "דירה": "מאז מאי אנחנו גרים ברחוב הטיליה בקומה השלישית. שכר הדירה הוא 890 שקלים. המפתח למרתף תלוי ליד"
            " הדלת.",
            "גינה": "בגינה גדלות עגבניות ושני עצי תפוח. החלזונות אוכלים את החסה. משקים בערב.",
            "מקהלה": "המקהלה מתאמנת כל יום חמישי בבית הספר הישן. הקונצרט היה ב-5 במרץ 2024. אחר כך היה מרק לכולם.",
            "חתולה": "שם החתולה שלנו מימי. בבוקר היא מקבלת חצי כדור. היא לא אוהבת את הווטרינר.",
        },
        {
            "כמה עלו האופניים?": ("אופניים", "640 שקלים"),
            "איפה מתאמנת מקהלה?": ("מקהלה", "בבית הספר"),
            "מי החליף את הסתימות?": ("רופא שיניים", "ברקאי"),
            "כמה שכר דירה משלמים?": ("דירה", "890 שקלים"),
            "איפה תלוי מפתח": ("דירה", "ליד הדלת"),
            "מה השם של החתולה?": ("חתולה", "מימי"),
            "מה גדל בַּגִּינָּה?": ("גינה", "עגבניות"),
            "מה היה ב-5 במרץ 2024?": ("מקהלה", "5 במרץ 2024"),
        },
    ),
    "hi": Vault(
        {
            "दाँत": "मंगलवार को मैं दाँत के डॉक्टर के पास गई। डॉक्टर मीरा ने दो दाँत भरे। अगली जाँच शरद में है।",
            "साइकिल": "मेरी नई साइकिल नीली है और उसकी कीमत छह हज़ार रुपये थी। मैंने उसे उत्तर भंडार से खरीदा। ब्रेक"
            " अब भी आवाज़ करते हैं।",
            "मरम्मत": "मरम्मत में चेन बदली गई। रमेश जी ने पाँच सौ रुपये लिए। टायर अब भी ठीक थे।",
            "घर": "मई से हम नीम गली की तीसरी मंज़िल पर रहते हैं। किराया बारह हज़ार रुपये है। तहखाने की चाबी दरवाज़े के पास लटकी है।",
            "बगीचा": "बगीचे में टमाटर और सेब के दो पेड़ उगते हैं। घोंघे सलाद खाते हैं। हम शाम को पानी देते हैं।",
            "गायन मंडली": "मंडली हर गुरुवार पुराने विद्यालय में अभ्यास करती है। संगीत समारोह 5 मार्च 2024 को हुआ। बाद"
            " में सबके लिए सूप था।",
            "बिल्ली": "हमारी बिल्ली का नाम मीमी है। वह सुबह आधी गोली खाती है। उसे पशु चिकित्सक पसंद नहीं।",
        },
        {
            "मेरी साइकिल की कीमत क्या थी?": ("साइकिल", "छह हज़ार"),
            "मंडली कहाँ अभ्यास करती है?": ("गायन मंडली", "पुराने विद्यालय"),
            "दाँत किसने भरे?": ("दाँत", "मीरा"),
            "किराया कितना है?": ("घर", "बारह हज़ार"),
            "चाबियाँ कहाँ हैं": ("घर", "दरवाज़े"),
            "बिल्ली का नाम क्या है?": ("बिल्ली", "मीमी"),
            "घोंघा क्या खाता है?": ("बगीचा", "सलाद"),
            "5 मार्च 2024 को क्या हुआ?": ("गायन मंडली", "5 मार्च 2024"),
        },
    ),
    "th": Vault(
        {
            "หมอฟัน": "วันอังคารฉันไปหาหมอฟัน คุณหมอวรรณาอุดฟันให้สองซี่ ตรวจครั้งต่อไปปลายปี",
            "จักรยาน": "จักรยานคันใหม่ของฉันสีฟ้า ราคาหกพันบาท ซื้อที่ร้านเหนือ",
            "อู่ซ่อม": "ที่อู่ซ่อมเปลี่ยนโซ่ให้ ช่างสมศักดิ์คิดห้าร้อยบาท ยางยังดีอยู่",
            "ห้องเช่า": "ตั้งแต่เดือนพฤษภาคมเราอยู่ที่ถนนโพธิ์ชั้นสาม ค่าเช่าเดือนละแปดพันบาท กุญแจแขวนอยู่ข้างประตู",
            "สวน": "ในสวนมีมะเขือเทศและต้นแอปเปิลสองต้น หอยทากกินผักกาด เรารดน้ำตอนเย็น",
            "วงประสานเสียง": "วงประสานเสียงซ้อมทุกวันพฤหัสบดีที่โรงเรียนเก่า คอนเสิร์ตจัดเมื่อ 5 มีนาคม 2024 หลังจากนั้นมีซุปให้ทุกคน",
            "แมว": "แมวของเราชื่อมีมี่ ทุกเช้ากินยาครึ่งเม็ด มันไม่ชอบสัตวแพทย์",
        },
        {
            "จักรยานราคาเท่าไร": ("จักรยาน", "หกพันบาท"),
            "วงประสานเสียงซ้อมที่ไหน": ("วงประสานเสียง", "โรงเรียนเก่า"),
            "ใครอุดฟันให้ฉัน": ("หมอฟัน", "วรรณา"),
            "ค่าเช่าเท่าไร": ("ห้องเช่า", "แปดพันบาท"),
            "กุญแจอยู่ที่ไหน": ("ห้องเช่า", "ข้างประตู"),
            "แมวชื่ออะไร": ("แมว", "มีมี่"),
            "หอยทากกินอะไร": ("สวน", "ผักกาด"),
            "เกิดอะไรขึ้นเมื่อ 5 มีนาคม 2024": ("วงประสานเสียง", "5 มีนาคม 2024"),
        },
    ),
    "zh": Vault(
        {
            "牙医": "星期二我去看牙医。何医生给我补了两颗牙。下次检查在秋天。",
            "自行车": "我的新自行车是蓝色的，花了三千块钱。是在北方车行买的。刹车还有一点响。",
            "修车铺": "修车铺给我换了链条。老钱收了五十块。轮胎还很好。",
            "公寓": "从五月起我们住在菩提路十二号三楼。房租每月四千五百元。地下室的钥匙挂在门边。",
            "花园": "花园里种着西红柿和两棵苹果树。蜗牛在吃生菜。我们晚上浇水。",
            "合唱团": "合唱团每星期四晚上在老学校排练。音乐会是2024年3月5日。后来大家一起喝汤。",
            "猫": "我们家的猫叫咪咪。每天早上吃半片药。它不喜欢兽医。",
        },
        {
            "我的自行车多少钱?": ("自行车", "三千块"),
            "合唱团在哪里排练": ("合唱团", "老学校"),
            "谁给我补的牙?": ("牙医", "何医生"),
            "我们的房租是多少？": ("公寓", "四千五百元"),
            "钥匙在哪儿": ("公寓", "门边"),
            "猫叫什么名字?": ("猫", "咪咪"),
            "蜗牛吃什么?": ("花园", "生菜"),
            "２０２４年３月５日有什么？": ("合唱团", "2024年3月5日"),
        },
    ),
    "zh-Hant": Vault(
        {
            "牙醫": "星期二我去看牙醫。何醫師幫我補了兩顆牙。下次檢查在秋天。",
            "腳踏車": "我的新腳踏車是藍色的，花了六千元。是在北方車行買的。煞車還有一點響。",
            "修車行": "修車行幫我換了鏈條。老錢收了兩百元。輪胎還很好。",
            "公寓": "從五月起我們住在菩提路十二號三樓。房租每月一萬五千元。地下室的鑰匙掛在門邊。",
            "花園": "花園裡種著番茄和兩棵蘋果樹。蝸牛在吃生菜。我們晚上澆水。",
            "合唱團": "合唱團每週四晚上在舊學校排練。音樂會是2024年3月5日。後來大家一起喝湯。",
            "貓": "我們家的貓叫咪咪。每天早上吃半顆藥。牠不喜歡獸醫。",
        },
        {
            "我的腳踏車多少錢？": ("腳踏車", "六千元"),
            "合唱團在哪裡排練？": ("合唱團", "舊學校"),
            "誰幫我補的牙？": ("牙醫", "何醫師"),
            "房租是多少": ("公寓", "一萬五千元"),
            "鑰匙在哪裡？": ("公寓", "門邊"),
            "貓叫什麼名字？": ("貓", "咪咪"),
            "蝸牛吃什麼？": ("花園", "生菜"),
            "2024年3月5日有什麼？": ("合唱團", "2024年3月5日"),
        },
    ),
    "ja": Vault(
        {
            "歯医者": "火曜日に歯医者へ行きました。早川先生が虫歯を二本治してくれました。次の検診は秋です。",
            "自転車": "新しい自転車は青で、六万円でした。北サイクルで買いました。ブレーキがまだ少し鳴ります。",
            "修理": "修理屋でチェーンを替えてもらいました。佐久間さんに四千円払いました。タイヤはまだ大丈夫でした。",
            "引っ越し": "五月から菩提樹通りのアパートの三階に住んでいます。家賃は八万五千円です。"
            "地下室の鍵はドアの横に掛けてあります。",
            "庭": "庭ではトマトとりんごの木が二本育っています。かたつむりがレタスを食べています。水やりは夕方です。",
            "合唱団": "合唱団は毎週木曜日に古い学校で練習します。コンサートは2024年3月5日でした。"
            "その後みんなでスープを飲みました。",
            "ねこ": "うちの猫の名前はミケです。毎朝薬を半分飲みます。獣医が嫌いです。",
            "バックアップ": "NASのbackupはrsyncで取っています。保存先はＳＳＤの外付けドライブです。"
            "毎晩二時に動きます。",
        },
        {
            "自転車はいくらでしたか?": ("自転車", "六万円"),
            "合唱団はどこで練習していますか": ("合唱団", "古い学校"),
            "虫歯を治したのは誰ですか?": ("歯医者", "早川先生"),
            "家賃はいくらですか?": ("引っ越し", "八万五千円"),
            "鍵はどこ": ("引っ越し", "ドアの横"),
            "猫は何という名前ですか?": ("ねこ", "ミケ"),
            "かたつむりは何を食べますか?": ("庭", "レタス"),
            "ﾚﾀｽを食べるのは何": ("庭", "レタス"),
            "2024年3月5日に何がありましたか？": ("合唱団", "2024年3月5日"),
            "backupは何で取っていますか": ("バックアップ", "rsync"),
            "SSDはどこ？": ("バックアップ", "外付けドライブ"),
        },
    ),
    "ko": Vault(
        {
            "치과": "화요일에 치과에 갔다. 한서윤 선생님이 충치 두 개를 치료해 주셨다. 다음 검진은 가을이다.",
            "자전거": "새 자전거는 파란색이고 육십만 원이었다. 북쪽가게에서 샀다. 브레이크가 아직 조금 삐걱거린다.",
            "수리점": "수리점에서 체인을 갈았다. 민 사장님이 삼만 원을 받았다. 바퀴는 아직 괜찮았다.",
            "아파트": "오월부터 보리수길 아파트 삼층에 살고 있다. 월세는 팔십오만 원이다."
            " 지하실 열쇠는 문 옆에 걸려 있다.",
            "정원": "정원에는 토마토와 사과나무 두 그루가 자란다. 달팽이가 상추를 먹는다. 물은 저녁에 준다.",
            "합창단": "합창단은 매주 목요일 옛날 학교에서 연습한다. 음악회는 2024년 3월 5일이었다."
            " 그 뒤에 모두 국을 먹었다.",
            "고양이": "우리 고양이의 이름은 미미이다. 아침마다 약을 반 알 먹는다. 수의사를 싫어한다.",
        },
        {
            "자전거가 얼마였지?": ("자전거", "육십만 원"),
            "합창단은 어디에서 연습해": ("합창단", "옛날 학교"),
            "충치를 누가 치료했어?": ("치과", "한서윤"),
            "월세가 얼마야?": ("아파트", "팔십오만 원"),
            "열쇠를 어디에 걸었지?": ("아파트", "문 옆에"),
            "고양이 이름이 뭐야?": ("고양이", "미미"),
            "달팽이는 무엇을 먹어?": ("정원", "상추"),
            "2024년 3월 5일에 뭐가 있었어?": ("합창단", "2024년 3월 5일"),
        },
    ),
}
